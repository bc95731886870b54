-- The accounting service's own tables, in the database of the library's.
CREATE TABLE IF NOT EXISTS books_setting (
	name TEXT PRIMARY KEY,
	value TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS books_user (
	id TEXT PRIMARY KEY,
	email TEXT NOT NULL UNIQUE, -- in lower case
	name TEXT NOT NULL,
	password_hash TEXT NOT NULL,
	is_operator BOOLEAN NOT NULL -- one of the platform's own staff
);
CREATE TABLE IF NOT EXISTS books_organization (
	id TEXT PRIMARY KEY,
	name TEXT NOT NULL,
	position BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS books_organization_member (
	organization_id TEXT NOT NULL REFERENCES books_organization (id),
	user_id TEXT NOT NULL REFERENCES books_user (id),
	PRIMARY KEY (organization_id, user_id)
);
CREATE INDEX IF NOT EXISTS books_organization_member_user ON books_organization_member (user_id);
CREATE TABLE IF NOT EXISTS books_business (
	id TEXT PRIMARY KEY,
	name TEXT NOT NULL,
	sandbox_of TEXT NOT NULL, -- an organization, or empty for a real business
	plan TEXT NOT NULL,
	invoice_limit BIGINT,
	turnover_limit BIGINT, -- in minor units of the currency
	currency TEXT NOT NULL,
	position BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS books_member (
	business_id TEXT NOT NULL REFERENCES books_business (id),
	user_id TEXT NOT NULL REFERENCES books_user (id),
	role TEXT NOT NULL,
	permissions TEXT, -- a JSON list in place of what the role gives, unless NULL
	PRIMARY KEY (business_id, user_id)
);
CREATE INDEX IF NOT EXISTS books_member_user ON books_member (user_id);
CREATE TABLE IF NOT EXISTS books_session (
	digest BYTEA PRIMARY KEY, -- of the cookie
	id TEXT NOT NULL UNIQUE,
	user_id TEXT NOT NULL REFERENCES books_user (id),
	business_id TEXT NOT NULL, -- empty until one is chosen
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS books_session_expires ON books_session (expires_at);
