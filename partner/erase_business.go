package partner

// ErasedBusiness replaces the id of an erased business in the records that stay.
const ErasedBusiness = "erased"

// BusinessErasure is the result of erasing a business.
type BusinessErasure struct {
	Installations int // that were ended
	AppData       int // values
	Events        int
	Deliveries    int
	Keys          int // idempotency keys
	AuditEntries  int // entries of the audit log that now name ErasedBusiness
	// Waiting counts the deliveries to apps about their removal that have neither arrived nor
	// failed, and the events that are not planned. Events and deliveries stay until it is zero.
	Waiting int
}

// Add adds what another part of the erasure did.
func (e *BusinessErasure) Add(part BusinessErasure) {
	e.Installations += part.Installations
	e.AppData += part.AppData
	e.Events += part.Events
	e.Deliveries += part.Deliveries
	e.Keys += part.Keys
	e.AuditEntries += part.AuditEntries
	e.Waiting += part.Waiting
}
