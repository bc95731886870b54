package operator

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/partner"
)

// readBody reads the body of a call. check names what else is wrong with a body that does
// not fit; see strictjson.Limits.
func readBody(r *http.Request, into any, check func() error) error {
	return strictjson.Decode(r, into, strictjson.Limits{Check: check})
}

func (o *Operator) listApps(w http.ResponseWriter, r *http.Request, by Actor) error {
	q := jsonapi.ParseQuery(r.URL.RawQuery)
	filter := AppFilter{Query: q.Text("query"), Status: partner.AppStatus(q.Text("status"))}
	page := readPage(q)
	if err := q.Err(); err != nil {
		return err
	}
	apps, err := o.Apps(r.Context(), by, filter, page)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, jsonapi.NewPage(apps.Items, apps.NextCursor, newAppPayload))
}

func (o *Operator) serveApp(w http.ResponseWriter, r *http.Request, by Actor) error {
	app, err := o.App(r.Context(), by, r.PathValue("appId"))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, newDetailsPayload(app))
}

func (o *Operator) serveUsage(w http.ResponseWriter, r *http.Request, by Actor) error {
	return o.ServeUsage(w, r, by, r.PathValue("appId"))
}

// ServeUsage responds with what an app used by business and UTC day, as the console does to
// the developers of the app; see console.Console.ServeAppUsage. Its error is one of apierror.
func (o *Operator) ServeUsage(w http.ResponseWriter, r *http.Request, _ Actor, appID string) error {
	app, err := o.cfg.Store.App(r.Context(), appID)
	if err != nil {
		return absent("app", err)
	}
	return o.cfg.Console.ServeAppUsage(w, r, app)
}

func (o *Operator) setAppStatus(w http.ResponseWriter, r *http.Request, by Actor) error {
	var in struct {
		Status partner.AppStatus `json:"status"`
		Reason string            `json:"reason"`
	}
	if err := readBody(r, &in, func() error { return checkAppStatus(in.Status, in.Reason) }); err != nil {
		return err
	}
	app, err := o.SetAppStatus(r.Context(), by, r.PathValue("appId"), in.Status, in.Reason)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, newAppPayload(app))
}

func (o *Operator) listReviews(w http.ResponseWriter, r *http.Request, by Actor) error {
	q := jsonapi.ParseQuery(r.URL.RawQuery)
	page := readPage(q)
	if err := q.Err(); err != nil {
		return err
	}
	reviews, err := o.Reviews(r.Context(), by, page)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, jsonapi.NewPage(reviews.Items, reviews.NextCursor, newReviewPayload))
}

func (o *Operator) serveListing(w http.ResponseWriter, r *http.Request, by Actor) error {
	listing, err := o.Listing(r.Context(), by, r.PathValue("appId"))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, newListingPayload(listing))
}

// reviewStep is the body of a step of a review.
type reviewStep struct {
	State consolestore.RevisionState `json:"state"`
	Note  string                     `json:"note"`
}

func readStep(r *http.Request) (in reviewStep, err error) {
	err = readBody(r, &in, func() error {
		var v apierror.Validation
		checkNote(&v, "note", in.Note)
		return v.Err()
	})
	return in, err
}

func (o *Operator) reviewApp(w http.ResponseWriter, r *http.Request, by Actor) error {
	in, err := readStep(r)
	if err != nil {
		return err
	}
	review, err := o.ReviewApp(r.Context(), by, r.PathValue("appId"), in.State, in.Note)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, struct {
		appPayload
		Review appReviewPayload `json:"review"`
	}{newAppPayload(review.App), newAppReviewPayload(review)})
}

func (o *Operator) reviewListing(w http.ResponseWriter, r *http.Request, by Actor) error {
	in, err := readStep(r)
	if err != nil {
		return err
	}
	listing, err := o.ReviewListing(r.Context(), by, r.PathValue("appId"), in.State, in.Note)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, newListingPayload(listing))
}

func (o *Operator) serveUser(w http.ResponseWriter, r *http.Request, by Actor) error {
	user, err := o.User(r.Context(), by, r.PathValue("userId"))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, newUserPayload(user))
}

func (o *Operator) setUserStatus(w http.ResponseWriter, r *http.Request, by Actor) error {
	var in struct {
		Status identity.UserStatus `json:"status"`
		Reason string              `json:"reason"`
	}
	check := func() error { return by.checkUserStatus(r.PathValue("userId"), in.Status, in.Reason) }
	if err := readBody(r, &in, check); err != nil {
		return err
	}
	user, err := o.SetUserStatus(r.Context(), by, r.PathValue("userId"), in.Status, in.Reason)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, newUserPayload(user))
}

// eraseUser takes no body, or one with a reason.
func (o *Operator) eraseUser(w http.ResponseWriter, r *http.Request, by Actor) error {
	var in struct {
		Reason string `json:"reason"`
	}
	body := bufio.NewReader(r.Body)
	if _, err := body.Peek(1); !errors.Is(err, io.EOF) {
		again := *r
		again.Body = io.NopCloser(body)
		if err := readBody(&again, &in, nil); err != nil {
			return err
		}
	}
	done, err := o.EraseUser(r.Context(), by, r.PathValue("userId"), in.Reason)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, struct {
		Consents     int `json:"consents"`
		Families     int `json:"families"`
		AuditEntries int `json:"auditEntries"`
	}{done.Consents, done.Families, done.AuditEntries})
}

func (o *Operator) listDocuments(w http.ResponseWriter, r *http.Request, by Actor) error {
	all, err := o.TrustedDocuments(r.Context(), by)
	if err != nil {
		return err
	}
	return jsonapi.WriteList(w, all, newDocumentPayload)
}

func (o *Operator) addDocument(w http.ResponseWriter, r *http.Request, by Actor) error {
	var in struct {
		Host   string `json:"host"`
		Reason string `json:"reason"`
	}
	if err := readBody(r, &in, func() error { return checkTrust(in.Host, in.Reason) }); err != nil {
		return err
	}
	added, err := o.TrustDocuments(r.Context(), by, in.Host, in.Reason)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusCreated, newDocumentPayload(added))
}

func (o *Operator) deleteDocument(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := o.DistrustDocuments(r.Context(), by, r.PathValue("documentId")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// jsonLines is the media type of an export.
const jsonLines = "application/jsonl"

func (o *Operator) serveAudit(w http.ResponseWriter, r *http.Request, by Actor) error {
	filter, page, err := ParseAuditFilter(r)
	if err != nil {
		return err
	}
	if wantsLines(r) {
		return o.WriteAudit(w, r, by, filter)
	}
	entries, err := o.Audit(r.Context(), by, filter, page)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, jsonapi.NewPage(entries.Items, entries.NextCursor, newAuditPayload))
}

func wantsLines(r *http.Request) bool {
	for _, value := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(value, ",") {
			if kind, _, err := mime.ParseMediaType(one); err == nil && kind == jsonLines {
				return true
			}
		}
	}
	return false
}

// WriteAudit responds with all entries that a filter names, one JSON object a line. What
// fails after the first line ends the connection: the response is not complete then, and
// must not look so.
func (o *Operator) WriteAudit(w http.ResponseWriter, r *http.Request, by Actor, f AuditFilter) error {
	begun := false
	w.Header().Set("Content-Type", jsonLines)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	out := json.NewEncoder(w)
	err := o.ExportAudit(r.Context(), by, f, func(e audit.Entry) error {
		begun = true
		return out.Encode(newAuditPayload(e))
	})
	if err != nil && begun {
		o.cfg.Logger.WarnContext(r.Context(), "audit export failed", "err", err)
		panic(http.ErrAbortHandler)
	}
	return err
}

func (o *Operator) serveFigures(w http.ResponseWriter, r *http.Request, by Actor) error {
	figures, err := o.Figures(r.Context(), by)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, newFiguresPayload(figures))
}
