package oauthserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/internal/text"
)

// ErasedUser replaces the id of an erased user in the records that stay.
const ErasedUser = "erased"

// eraseBatch is how many records a part of an erasure reads at most.
const eraseBatch = 2000

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

// EraseUser ends the consents and the tokens of a user and removes the user's id from
// everything that is kept. Records that stay, such as audit entries, name [ErasedUser]
// instead; the records of different erased users cannot be distinguished. Installations
// stay, since they belong to the business.
//
// The tokens are dead before anything else happens. The rest happens in many short
// transactions. After an error the user is suspended until EraseUser is called again, which
// completes the erasure; the returned Erasure counts what was done. Erasing a user a second
// time changes nothing and is not an error.
//
// The host ends the user's sessions first and no longer reports the user as a member of a
// business. Otherwise the user can consent again, and new records have the id.
func (s *Server) EraseUser(ctx context.Context, userID string) (Erasure, error) {
	var total Erasure
	if userID == "" || userID == ErasedUser || !text.IsStorable(userID) {
		return total, errors.New("erase user: invalid user id")
	}
	for part := (EraseUser{UserID: userID, Now: s.cfg.Clock.Now(), Limit: eraseBatch}); ; {
		done, err := s.cfg.Store.EraseUser(ctx, part)
		if err != nil {
			return total, fmt.Errorf("erase user: %w", err)
		}
		total.Add(done.Erasure)
		if done.Next == "" {
			return total, nil
		}
		part.After = done.Next
	}
}
