package events

// The samples: records as an accounting service shows them. Money is in minor
// units. All ids are made up, and have the same last part.
const (
	sampleID   = "06g5plpa01o015r0g79mgnmm4c"
	sampleTime = `"2026-09-01T12:00:00.000Z"`

	installation = `{"installationId":"inst_` + sampleID + `","businessId":"biz_` + sampleID + `","scopes":["invoices:read","events:read"]}`

	appDataValues = `{"values":[{"id":"adv_` + sampleID + `","resourceType":"invoice","resourceId":"inv_` + sampleID + `",` +
		`"key":"shipment","value":"on its way","createdAt":` + sampleTime + `,"updatedAt":` + sampleTime + `}]}`

	customer = `{"id":"cus_` + sampleID + `","name":"Corner Bakery","email":"office@bakery.example","createdAt":` + sampleTime + `}`
	supplier = `{"id":"sup_` + sampleID + `","name":"Mill & Sons","email":"sales@mill.example","createdAt":` + sampleTime + `}`
	payment  = `{"id":"pay_` + sampleID + `","invoiceId":"inv_` + sampleID + `","amount":11900,"currency":"EUR","createdAt":` + sampleTime + `}`
	account  = `{"id":"acc_` + sampleID + `","code":"1200","name":"Bank","type":"asset","createdAt":` + sampleTime + `}`

	journalEntry = `{"id":"jrn_` + sampleID + `","date":"2026-09-01","currency":"EUR","lines":[` +
		`{"accountId":"acc_` + sampleID + `","debit":11900,"credit":0},` +
		`{"accountId":"acc_06g5plpa01o015r0g79mgnmm4g","debit":0,"credit":11900}],"createdAt":` + sampleTime + `}`

	taxRate = `{"id":"tax_` + sampleID + `","name":"VAT","basisPoints":1900}`
	period  = `{"id":"per_` + sampleID + `","from":"2026-08-01","to":"2026-08-31"}`
)

func redacted(prefix string) string { return `{"id":"` + prefix + sampleID + `"}` }

func invoice(status string) string {
	return `{"id":"inv_` + sampleID + `","number":"2026-0042","customerId":"cus_` + sampleID + `","currency":"EUR","total":11900,` +
		`"status":"` + status + `","createdAt":` + sampleTime + `}`
}

func creditNote(status string) string {
	return `{"id":"crn_` + sampleID + `","number":"CN-0007","invoiceId":"inv_` + sampleID + `","currency":"EUR","total":2000,"status":"` + status + `"}`
}

func estimate(status string) string {
	return `{"id":"est_` + sampleID + `","number":"E-0012","customerId":"cus_` + sampleID + `","currency":"EUR","total":11900,"status":"` + status + `"}`
}

func bill(status string) string {
	return `{"id":"bil_` + sampleID + `","number":"R-4711","supplierId":"sup_` + sampleID + `","currency":"EUR","total":5950,"status":"` + status + `"}`
}

func bankTransaction(status string) string {
	return `{"id":"btx_` + sampleID + `","date":"2026-09-01","amount":11900,"currency":"EUR","text":"Invoice 2026-0042","status":"` + status + `"}`
}
