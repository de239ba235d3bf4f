"""The work behind ``sdv-tabdiff benchmark-imputation`` and ``benchmark-conditions``."""
