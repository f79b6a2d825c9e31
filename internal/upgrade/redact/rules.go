package redact

import (
	"regexp"
	"slices"
	"strings"
)

// rule finds secrets of one kind in a line.
type rule struct {
	name, description string
	// needs are texts in lower case. A line with none of them is not searched.
	needs []string
	// find returns the spans of the secrets; the rule need not be set.
	find func(line string) []span
}

func (r *rule) spans(line, lower string) []span {
	if len(r.needs) > 0 && !slices.ContainsFunc(r.needs, func(n string) bool { return strings.Contains(lower, n) }) {
		return nil
	}
	found := r.find(line)
	for i := range found {
		found[i].rule = r.name
	}
	return found
}

// The names of the rules that the state of a stream and objects apply, too.
const (
	rulePrivateKey  = "private-key"
	ruleSecretData  = "secret-data"
	ruleLastApplied = "last-applied"
	ruleEnv         = "env"
	ruleNamed       = "named"
	ruleFlag        = "flag"
	ruleConfigured  = "configured"
)

// rules are all rules. A test plants a secret for each that no other rule finds.
var rules = []rule{
	{rulePrivateKey, "PEM private keys, also over several lines and in JSON strings", []string{"private key"}, pemKeys},
	{"private-key-body", "lines of a PEM block whose beginning is missing, and keys in base64 without PEM", nil, keyBodies},
	{"base64", "base64 of anything that another rule redacts, such as client-key-data of a kubeconfig", nil, nil}, // set by init: it uses the others
	{"jwt", "JSON web tokens, such as those of ServiceAccounts", []string{"eyj"}, matches(`\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?`, 0)},
	{"bootstrap-token", "bootstrap tokens of kubeadm", []string{"."}, bootstrapTokens},
	{"bearer", "bearer tokens outside of a header", []string{"bearer"}, bearers},
	{"basic-auth", "user and password of basic authentication", []string{"basic"}, basicAuth},
	{"authorization", "Authorization headers with any scheme", []string{"authorization"}, headers(`(?i)\b(?:proxy-)?authorization`)},
	{"cookie", "cookies", []string{"cookie"}, headers(`(?i)\b(?:set-)?cookie`)},
	{"url-password", "passwords in URLs", []string{"@"}, urlPasswords},
	{"url-query", "tokens and signatures in the query of a URL", []string{"?", "&", "u0026"}, matches(
		`(?i)(?:[?&]|\\+u0026)[\w.-]*(?:token|signature|sig|password|passwd|secret|key|credential|code)=([^\s&"'\\#]+)`, 1)},
	{"docker-auth", "credentials of registries (auths of a Docker configuration)", []string{"auth"}, dockerAuths},
	{ruleSecretData, "data and stringData of Secrets that a text quotes", []string{"stringdata", "data:map[", "secret"}, secretData},
	{ruleLastApplied, "the annotation last-applied-configuration, which repeats an object", []string{lastApplied}, lastAppliedValues},
	{ruleEnv, "environment variables named *TOKEN*, *PASSWORD*, *SECRET*, *KEY*", []string{"token", "passw", "secret", "key", "credential"}, envValues},
	{ruleNamed, "fields named after a password, token, secret or private key", []string{"token", "pass", "pwd", "secret", "key", "credential"}, namedValues},
	{
		ruleFlag, "flags named after a secret, with their value as the next argument",
		[]string{"token", "pass", "pwd", "secret", "key", "credential"},
		flagValues,
	},
	{"provider-token", "tokens of cloud and code hosting providers, by their shape", []string{"akia", "asia", "gh", "glpat", "xox", "sk_", "aiza"}, matches(
		`\b(?:(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|glpat-[\w-]{20,}|`+
			`xox[abprs]-[\w-]{10,}|sk_(?:live|test)_\w{16,}|AIza[\w-]{35})`, 0)},
	{"age-key", "age identities", []string{"age-secret-key-1"}, matches(`(?i)AGE-SECRET-KEY-1[0-9a-z]+`, 0)},
	{"password-hash", "hashes of passwords (crypt, bcrypt)", []string{"$"}, matches(
		`\$(?:2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}|[156y]\$[^\s"'\\:]{8,})`, 0)},
}

func init() {
	i := slices.IndexFunc(rules, func(r rule) bool { return r.name == "base64" })
	rules[i].find = wrapped(&Redactor{rules: append(slices.Clone(rules[:i]), rules[i+1:]...)})
}

// Description is a rule as documentation and the index of a bundle list it.
type Description struct{ Name, Description string }

// Descriptions returns all rules.
func Descriptions() []Description {
	var out []Description
	for _, r := range rules {
		out = append(out, Description{r.name, r.description})
	}
	return append(out, Description{ruleConfigured, "what --redact matches"})
}

// matches returns a finder of a group of a pattern.
func matches(pattern string, group int) func(string) []span {
	expression := regexp.MustCompile(pattern)
	return func(line string) []span { return all(expression, group, line) }
}

// all returns where a group matches.
func all(expression *regexp.Regexp, group int, line string) (out []span) {
	for _, at := range expression.FindAllStringSubmatchIndex(line, -1) {
		if at[2*group] >= 0 {
			out = append(out, span{from: at[2*group], to: at[2*group+1]})
		}
	}
	return out
}

func configured(patterns []*regexp.Regexp) (out []rule) {
	for _, p := range patterns {
		group := min(1, p.NumSubexp())
		out = append(out, rule{name: ruleConfigured, find: func(line string) []span { return all(p, group, line) }})
	}
	return out
}
