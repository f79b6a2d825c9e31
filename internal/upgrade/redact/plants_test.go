package redact

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// The canaries: no output may have one of them. They are no real credentials.
const (
	canary = "C4naryV4lue"
	digits = "0123456789abcdef"
)

// fakePEM is a private key without a key in it: lines of base64 with the right length.
func fakePEM() string {
	line := strings.Repeat("Q4naryBody", 6) + "Zz+9"
	return "-----BEGIN RSA PRIVATE " + "KEY-----\n" + line + "\n" + line + "\nq4naryTail==\n-----END RSA PRIVATE " + "KEY-----"
}

func escaped(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return strings.Trim(string(out), `"`)
}

func b64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func folded(text string) string {
	var out strings.Builder
	for len(text) > 76 {
		out.WriteString(text[:76] + "\n")
		text = text[76:]
	}
	return out.String() + text
}

// plant is a text with a secret, and the parts of it that may not remain.
type plant struct {
	rule string // removing it must let the secret pass; empty: several rules find it
	text string
	gone []string
}

var jwt = "ey" + "JhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0." + "c2lnbmF0dXJlQ4nary"

// plants are secrets in the forms in which logs, journals and objects have them.
var plants = map[string]plant{
	"a PEM key over lines":                 {rulePrivateKey, fakePEM(), []string{"Q4naryBody", "q4naryTail"}},
	"a PEM key with a prefix on each line": {rulePrivateKey, "09:00 host kubelet[1]: " + strings.ReplaceAll(fakePEM(), "\n", "\n09:00 host kubelet[1]: "), []string{"Q4naryBody", "q4naryTail"}},
	"a PEM key in JSON":                    {rulePrivateKey, `{"msg":"` + escaped(fakePEM()) + `"}`, []string{"Q4naryBody", "q4naryTail"}},
	"a PEM key in JSON in JSON":            {rulePrivateKey, `{"msg":"` + escaped(`{"cert":"`+escaped(fakePEM())+`"}`) + `"}`, []string{"Q4naryBody", "q4naryTail"}},
	"a PEM key without its end":            {rulePrivateKey, strings.Join(strings.Split(fakePEM(), "\n")[:3], "\n"), []string{"Q4naryBody"}},
	"a PEM key between other lines":        {rulePrivateKey, strings.ReplaceAll(fakePEM(), "\n", "\nan unrelated line of another process\n"), []string{"Q4naryBody", "q4naryTail"}},
	"a PEM key without its begin":          {"private-key-body", strings.Join(strings.Split(fakePEM(), "\n")[1:3], "\n"), []string{"Q4naryBody"}},
	"a PKCS #8 key without PEM":            {"private-key-body", "loaded MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcQ4nary+/x==", []string{"Q4nary"}},
	"client-key-data of a kubeconfig":      {"", "    client-key-data: " + b64(fakePEM()), []string{b64(fakePEM())[20:60]}},
	"base64 of a key in a log":             {"base64", "loaded " + b64(fakePEM()) + " from disk", []string{b64(fakePEM())[40:60]}},
	"base64 of a key in lines":             {rulePrivateKey, folded(b64(fakePEM())), []string{b64(fakePEM())[80:140], b64(fakePEM())[160:200]}},
	"base64 of base64 of a token":          {"base64", "payload=" + b64(b64(`{"password":"`+canary+`-and-more"}`)), []string{b64(b64(`{"password":"` + canary + `-and-more"}`))[10:40]}},
	"a ServiceAccount token":               {"jwt", "got " + jwt + " back", []string{"c2lnbmF0dXJl"}},
	"a ServiceAccount token without end":   {"jwt", "got " + jwt[:40], []string{"eyJpc3M"}},
	"a bootstrap token":                    {"bootstrap-token", "created abcdef." + digits + " for it", []string{digits}},
	"a bootstrap token in quotes":          {"bootstrap-token", `id "abcdef.` + digits + `".`, []string{digits}},
	"a bearer token":                       {"bearer", "sent bearer " + canary + "-1 to it", []string{canary}},
	"basic authentication":                 {"basic-auth", "sent Basic " + b64("admin:"+canary), []string{b64("admin:" + canary)[4:]}},
	"a header with a digest":               {"authorization", `Authorization: Digest username="admin", response="` + canary + `"`, []string{canary}},
	"a header in a Go map":                 {"authorization", "map[Authorization:[Negotiate " + canary + "] Accept:[*/*]]", []string{canary}},
	"a header in JSON":                     {"authorization", `{"headers":{"authorization":["Custom ` + canary + `"]}}`, []string{canary}},
	"a header in JSON in JSON":             {"authorization", `{"m":"{\"Authorization\":\"Custom ` + canary + `\"}"}`, []string{canary}},
	"a cookie":                             {"cookie", "Set-Cookie: refit=" + canary + "; Path=/", []string{canary}},
	"a password in a URL":                  {"url-password", "pull https://robot:" + canary + "@registry.example/x", []string{canary}},
	"a password in a URL in JSON":          {"url-password", `{"u":"https:\/\/robot:` + canary + `@registry.example\/x"}`, []string{canary}},
	"a token in the place of a user":       {"url-password", "clone https://" + canary + "-1234567@git.example/x", []string{canary}},
	"a signed URL":                         {"url-query", "GET https://s3.example/o?X-Amz-Date=1&X-Amz-Signature=" + canary + "&x=1", []string{canary}},
	"a signed URL in JSON":                 {"url-query", `{"u":"https://s3.example/o?a=1\u0026sig=` + canary + `\u0026x=1"}`, []string{canary}},
	"auths of a Docker configuration":      {"docker-auth", `{"auths":{"r.example":{"auth":"` + b64("u:"+canary) + `"}}}`, []string{b64("u:" + canary)[4:]}},
	"auths in JSON in JSON":                {"docker-auth", `{"c":"{\"auths\":{\"r\":{\"auth\":\"` + b64("u:"+canary) + `\"}}}"}`, []string{b64("u:" + canary)[4:]}},
	"auths in base64":                      {"base64", ".dockerconfigjson: " + b64(`{"auths":{"r.example":{"auth":"`+b64("u:"+canary)+`"}}}`), []string{b64(`{"auths":{"r.example":{"auth":"` + b64("u:"+canary) + `"}}}`)[8:]}},
	"a quoted Secret":                      {ruleSecretData, `{"kind":"Secret","data":{"x":"` + b64(canary) + `"}}`, []string{b64(canary)}},
	"a quoted Secret in JSON":              {ruleSecretData, `{"m":"{\"data\":{\"x\":\"` + b64(canary) + `\"},\"kind\":\"Secret\"}"}`, []string{b64(canary)}},
	"stringData":                           {ruleSecretData, `{"stringData":{"x":"` + canary + `"}}`, []string{canary}},
	"a Secret as YAML":                     {ruleSecretData, "apiVersion: v1\ndata:\n  x: " + b64(canary+"1") + "\nkind: Secret", []string{b64(canary + "1")}},
	"stringData as YAML":                   {ruleSecretData, "stringData:\n  x: |\n    " + canary + " more\n  y: " + canary + "\nkind: Secret", []string{canary}},
	"a Secret that Go prints":              {ruleSecretData, "Secret{Data:map[string][]uint8{\"x\":[]uint8{0x68, 0x75}}, Type:Opaque}", []string{"0x68"}},
	"a Secret that Go prints with %v":      {ruleSecretData, "{Data:map[x:[104 117 110]] Type:Opaque}", []string{"104 117"}},
	"last-applied-configuration":           {ruleLastApplied, `kubectl.kubernetes.io/last-applied-configuration: '{"x":"` + canary + `"}'`, []string{canary}},
	"last-applied-configuration in lines":  {ruleLastApplied, "    kubectl.kubernetes.io/last-applied-configuration: |\n      {\"x\":\"" + canary + "\"}\n    other: 1", []string{canary}},
	"an environment variable":              {ruleEnv, "env SIGNING_KEY=" + canary + " started", []string{canary}},
	"an environment variable in JSON":      {ruleEnv, `{"env":[{"name":"SIGNING_KEY","value":"` + canary + `"}]}`, []string{canary}},
	"an environment variable in YAML":      {ruleEnv, "- name: SIGNING_KEY\n  value: " + canary + " x\n- name: B", []string{canary}},
	"an environment variable that Go logs": {ruleEnv, "EnvVar{Name:SIGNING_KEY,Value:" + canary + ",ValueFrom:nil}", []string{canary}},
	"a password in YAML with spaces":       {ruleNamed, "password: correct horse " + canary, []string{"correct horse", canary}},
	"a password in a log":                  {ruleNamed, `level=info password="` + canary + ` x" user=a`, []string{canary}},
	"a password with an escaped quote":     {ruleNamed, `{"password":"a\"` + canary + `","user":"a"}`, []string{canary}},
	"a password escaped twice":             {ruleNamed, `{"m":"{\"password\":\"a\\\"` + canary + `\"}"}`, []string{canary}},
	"a password with a comma":              {ruleNamed, `dsn password=a,` + canary + `, user=x`, []string{canary}},
	"a token in a struct":                  {ruleNamed, "&{ClientSecret:" + canary + " Scope:x}", []string{canary}},
	"a passphrase in a YAML block":         {ruleNamed, "passphrase: |\n  " + canary + "\nuser: x", []string{canary}},
	"a flag and its value":                 {ruleFlag, "kubeadm init --certificate-key " + canary + " -v5", []string{canary}},
	"a flag and its value in JSON":         {ruleFlag, `["join","--token","` + canary + `"]`, []string{canary}},
	"a token of a code host":               {"provider-token", "using ghp_" + strings.Repeat("aB3", 12), []string{"aB3aB3"}},
	"an access key of a cloud":             {"provider-token", "AKIA" + "ABCDEFGHIJKLMNOP is used", []string{"ABCDEFGHIJKLMNOP"}},
	"an age identity":                      {"age-key", "AGE-SECRET-KEY-1" + strings.Repeat("Q", 58), []string{"QQQQQQQQ"}},
	"a password hash":                      {"password-hash", "root:$6$rounds$" + canary + ".:19000:0", []string{canary}},
	"a configured pattern":                 {ruleConfigured, "customer ACME-" + canary + " is here", []string{canary}},
	"a group of a configured pattern":      {ruleConfigured, "site=" + canary + " is here", []string{canary}},
}

// kept are texts that look like secrets and are needed to find faults.
var kept = []string{
	"image sha256:" + strings.Repeat(digits, 4) + " is pulled",
	strings.Repeat(digits, 4),
	"StartContainer for \"" + strings.Repeat(digits, 4) + "\" returns successfully",
	`{"key":"node-role.kubernetes.io/control-plane","operator":"Exists"}`,
	"topologyKey: kubernetes.io/hostname",
	"secretName: refit-serve",
	"automountServiceAccountToken: false",
	"tokenExpirationSeconds: 3600",
	"secrets \"x\" is forbidden: User \"y\" cannot get resource",
	"Basic authentication is disabled, bearer tokens are accepted",
	"authorization-mode=Node,RBAC",
	"authorization:",
	"https://10.0.0.1:6443/api/v1/nodes/cp-1?timeout=10s",
	"node cp-1 is Ready, kubelet v1.36.3",
	"name: refit-controller-7d9fcb4d6-x2k9p.18a1b2c3d4e5f607",
	"2026-11-19T08:00:00.000000Z refit-agent[1]: {\"level\":\"INFO\",\"msg\":\"step done\",\"step\":\"swap-etcd\"}",
	"machineID: f3b16037d0c04e0766126b3bf43ca331",
	"data:\n  agent.yaml: '{}'\n  replicas: three",
}
