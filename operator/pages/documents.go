package pages

import (
	"strings"

	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/site"
)

func documentRoutes() []route {
	return []route{
		{"GET /trusted-documents", (*visit).listDocuments},
		{"POST /trusted-documents", (*visit).trustDocuments},
		{"POST /trusted-documents/{documentId}/delete", (*visit).distrustDocuments},
	}
}

type documentsView struct {
	Documents []consolestore.TrustedDocument
	Form      bodies.Form
}

const documentsTitle = "Trusted documents"

func (v *visit) listDocuments() error {
	all, err := v.cfg.Operator.TrustedDocuments(v.r.Context(), v.by)
	if err != nil {
		return err
	}
	return v.show("documents", documentsTitle, documentsView{Documents: all})
}

func (v *visit) trustDocuments() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	_, err = v.cfg.Operator.TrustDocuments(v.r.Context(), v.by, strings.TrimSpace(form.Get("host")), site.UnixLines(form.Get("reason")))
	if err == nil {
		return v.to("host-trusted", "trusted-documents")
	}
	all, failed := v.cfg.Operator.TrustedDocuments(v.r.Context(), v.by)
	if failed != nil {
		return failed
	}
	return v.again(err, "documents", documentsTitle, documentsView{all, form})
}

func (v *visit) distrustDocuments() error {
	if err := v.cfg.Operator.DistrustDocuments(v.r.Context(), v.by, v.r.PathValue("documentId")); err != nil {
		return err
	}
	return v.to("host-distrusted", "trusted-documents")
}
