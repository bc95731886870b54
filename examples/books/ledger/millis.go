package ledger

import (
	"fmt"
	"time"
)

// millis reads a time from a column of Unix milliseconds.
type millis time.Time

// Scan implements sql.Scanner.
func (m *millis) Scan(value any) error {
	ms, ok := value.(int64)
	if !ok {
		return fmt.Errorf("a time of type %T", value)
	}
	*m = millis(time.UnixMilli(ms).UTC())
	return nil
}
