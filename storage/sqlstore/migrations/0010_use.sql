-- minimum: 1
-- When an installation was used last. It is a table of its own because whoever mints
-- a token holds the installation's row.
CREATE TABLE partnerkit_installation_use (
  installation_id TEXT PRIMARY KEY,
  used_at BIGINT NOT NULL
);
