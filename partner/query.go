package partner

// AppQuery asks for apps. The zero value asks for none.
type AppQuery struct {
	// ClientID asks for the one app that has it. The fields below do not count.
	ClientID string
	// All asks for the apps of all organizations, and those without one.
	All bool
	// OrganizationIDs asks for the apps of any of these organizations.
	OrganizationIDs []string

	// Text asks for apps whose name contains it, A to Z in any case, whose id, client_id or
	// organization it is, or the host of a redirect URI with http or https; empty: all.
	Text string
	// TextOrganizations are organizations whose apps match Text too.
	TextOrganizations []string

	Status AppStatus // only apps with this status; empty: all

	Before string // the id of an app that comes after; empty: from the last on
	Limit  int
}

// InstallationQuery asks for the installations of an app, of a business, or of an app in a
// business, of which at most one is ACTIVE.
type InstallationQuery struct {
	AppID      string // empty: any
	BusinessID string // empty: any
	After      string // the id of an installation that comes before; empty: from the first on
	Limit      int    // 0: all
}
