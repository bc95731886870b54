package pages

// Route is a page, or what a form of one posts to.
type Route struct{ Method, Path string }

// Routes are those of all parts.
func (p *Pages) Routes() []Route {
	var all []Route
	for _, one := range p.allRoutes() {
		all = append(all, Route{one.method, one.path})
	}
	return all
}

// Span writes a duration of a configuration.
var Span = span

// Curl writes a request as a command.
var Curl = curl
