package partnerkit_test

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
)

// mobileApp accepts the tokens that our sign-in gives to our mobile app. The table holds
// their digests, and the business counts only while the user is a member of it.
func mobileApp(db *sql.DB) guard.ForeignTokens {
	return func(r *http.Request, token string) (identity.Session, bool, error) {
		var session identity.Session
		digest, business := sha256.Sum256([]byte(token)), r.Header.Get("X-Business")
		err := db.QueryRowContext(r.Context(), `
			SELECT t.user_id, COALESCE(m.business_id, '')
			FROM mobile_token t LEFT JOIN member m ON m.user_id = t.user_id AND m.business_id = $2
			WHERE t.digest = $1`, digest[:], business).Scan(&session.UserID, &session.BusinessID)
		if errors.Is(err, sql.ErrNoRows) {
			return identity.Session{}, false, nil // 401
		}
		return session, err == nil, err // an error is a 5xx
	}
}

// The mobile app of the host calls the API host with a token of the host.
func ExampleConfig_foreignTokens() {
	db, err := sql.Open("sqlite", ":memory:") // yours
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	digest := sha256.Sum256([]byte("mob_ada"))
	_, err = db.Exec(`
		CREATE TABLE mobile_token (digest BLOB PRIMARY KEY, user_id TEXT NOT NULL);
		CREATE TABLE member (user_id TEXT NOT NULL, business_id TEXT NOT NULL);
		INSERT INTO member VALUES ('usr_ada', 'biz_bakery');
		INSERT INTO mobile_token VALUES ($1, 'usr_ada')`, digest[:])
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg := partnerkit.Config{ForeignTokens: mobileApp(db)} // and what every platform needs

	r := httptest.NewRequest(http.MethodGet, "/invoices", nil)
	r.Header.Set("X-Business", "biz_bakery")
	for _, token := range []string{"mob_ada", "mob_eve"} {
		session, ok, err := cfg.ForeignTokens(r, token)
		fmt.Println(token, session.UserID, session.BusinessID, ok, err)
	}
	// Output:
	// mob_ada usr_ada biz_bakery true <nil>
	// mob_eve   false <nil>
}
