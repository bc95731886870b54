package id

// Kind is the kind of record that an id names: its prefix, including the underscore.
type Kind string

// The kinds. A prefix never changes, because partners store ids in their databases.
const (
	App          Kind = "app_"
	Business     Kind = "biz_"
	Client       Kind = "cli_" // OAuth client_id
	Organization Kind = "org_"
	User         Kind = "usr_"

	Installation      Kind = "inst_"
	Grant             Kind = "grt_" // one user's consent
	Family            Kind = "fam_" // the tokens that descend from one approval
	Token             Kind = "tok_" // the record of a token, never the token
	Authorization     Kind = "arq_" // an authorization request
	Code              Kind = "cod_"
	Device            Kind = "dvc_" // a device authorization
	RegistrationToken Kind = "rgt_"
	ConsoleToken      Kind = "ctk_" // the record of a console token, never the token
	Session           Kind = "ses_"
	SigningKey        Kind = "key_"

	Event    Kind = "evt_"
	Webhook  Kind = "whk_"
	Delivery Kind = "dlv_"
	Attempt  Kind = "att_"

	AppDataField Kind = "adf_"
	AppDataSpace Kind = "ads_" // all values of an app in a business
	AppDataValue Kind = "adv_"

	Asset           Kind = "ast_"
	Audit           Kind = "aud_"
	Extension       Kind = "ext_"
	Function        Kind = "fnc_"
	Listing         Kind = "lst_"
	Revision        Kind = "rev_"
	Submission      Kind = "sub_" // of an app for review, without its listing
	TrustedDocument Kind = "tdh_" // a host whose client metadata documents are trusted
	Secret          Kind = "sec_" // the record of an app's secret, never the secret

	Account      Kind = "acc_"
	Customer     Kind = "cus_"
	Invoice      Kind = "inv_"
	JournalEntry Kind = "jrn_"
	Payment      Kind = "pay_"
	Supplier     Kind = "sup_"

	Request Kind = "req_" // one HTTP request, for logs
	Fault   Kind = "flt_" // of development mode
)
