package partner

// ErasedUser replaces the id of an erased user in the records that stay.
const ErasedUser = "erased"

// Erasure is the result of erasing a user. It is zero if no record had the user's id.
type Erasure struct {
	Consents     int // consents that were ended
	Families     int // token families that were ended
	AuditEntries int // entries of the audit log that now name ErasedUser
	// Records is the number of records in which the id was replaced, or which were deleted.
	// Consents, families and audit entries are included, the user's status is not.
	Records int
}

// Add adds what another part of the erasure did.
func (e *Erasure) Add(part Erasure) {
	e.Consents += part.Consents
	e.Families += part.Families
	e.AuditEntries += part.AuditEntries
	e.Records += part.Records
}
