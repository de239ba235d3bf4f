"""The work behind ``sdv-tabdiff benchmark`` and its sisters for imputation and conditions."""
