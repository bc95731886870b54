-- Records of the businesses, in the database of the library's tables. Which
-- businesses there are is not for these tables to know. Money is in minor units.
CREATE TABLE IF NOT EXISTS books_customer (
	business_id TEXT NOT NULL,
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	email TEXT,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (business_id, id)
);
CREATE TABLE IF NOT EXISTS books_supplier (
	business_id TEXT NOT NULL,
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	email TEXT,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (business_id, id)
);
CREATE TABLE IF NOT EXISTS books_invoice (
	business_id TEXT NOT NULL,
	id TEXT NOT NULL,
	number TEXT NOT NULL,
	customer_id TEXT,
	currency TEXT NOT NULL,
	total BIGINT NOT NULL,
	paid BIGINT NOT NULL CHECK (paid BETWEEN 0 AND total), -- the sum of its payments
	created_at BIGINT NOT NULL,
	PRIMARY KEY (business_id, id),
	FOREIGN KEY (business_id, customer_id) REFERENCES books_customer (business_id, id)
);
CREATE TABLE IF NOT EXISTS books_invoice_year (
	business_id TEXT NOT NULL,
	year BIGINT NOT NULL, -- in UTC
	invoices BIGINT NOT NULL,
	turnover BIGINT NOT NULL, -- of the invoices in the business's currency
	PRIMARY KEY (business_id, year)
);
CREATE TABLE IF NOT EXISTS books_payment (
	business_id TEXT NOT NULL,
	id TEXT NOT NULL,
	invoice_id TEXT NOT NULL,
	amount BIGINT NOT NULL,
	currency TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (business_id, id),
	FOREIGN KEY (business_id, invoice_id) REFERENCES books_invoice (business_id, id)
);
CREATE TABLE IF NOT EXISTS books_account (
	business_id TEXT NOT NULL,
	id TEXT NOT NULL,
	code TEXT NOT NULL,
	name TEXT NOT NULL,
	type TEXT NOT NULL,
	archived BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (business_id, id),
	UNIQUE (business_id, code)
);
CREATE TABLE IF NOT EXISTS books_journal_entry (
	business_id TEXT NOT NULL,
	id TEXT NOT NULL,
	date TEXT NOT NULL,
	currency TEXT NOT NULL,
	lines TEXT NOT NULL, -- a JSON list
	created_at BIGINT NOT NULL,
	PRIMARY KEY (business_id, id)
);
