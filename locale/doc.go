// Package locale holds the texts of the pages that a business's people see, by language:
// consent, devices, connected apps and explanations of errors. English and German are
// built in. [Languages] configures the choice; a [Book] is its checked form, and picks a
// [Language] for each request.
//
// A text has a key such as consent.title and may have placeholders in braces, such as
// {app}. English has every key; [English] returns them all. Three families of keys are open:
//
//   - scope:<name> is the description of a scope. Without such a text the scope's own
//     description is shown.
//   - permission:<name> is the description of a permission. Without such a text its name is
//     shown.
//   - link:<href> is the text of a link of the host's theme.
//
// A text that a language lacks is taken from the language without its region, and then
// from English. The texts of errors by which partners and their support identify a
// problem are not translated: a page shows them unchanged, and the explanation of the
// error (error.<code>) beside them.
package locale
