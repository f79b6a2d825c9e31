//go:build e2e

package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/api/serve/v1alpha1/client"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/versions"
)

// The ClusterReleases of the publisher, of the version that the cluster runs, and the password of
// the user.
const (
	firstShop  = "shop-1"
	secondShop = "shop-2"
	password   = "canary-password-of-the-shop"
)

// TestServeForm publishes components with the form of docs/components.md. A user fills it in, plans
// and installs them with the answers, and changes an answer later.
func TestServeForm(t *testing.T) {
	begun := time.Now()
	s := bed.NewSite(t, cluster.Spec{Name: "form", Kubernetes: bed.Older}, false)
	s.UseComponents(t)
	s.Install(t)
	publishShop(t, s, firstShop, "1.0.0")
	n := s.First(cluster.RoleControlPlane)
	url := start(t, s, n)
	token, spec := editor(t, s), refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Release: firstShop}}
	u := newFormUser(t, url, token)

	unfilled := u.planned(t, &spec, func(c *client.Check) error {
		return mentionsForm(c, "Host name (ingress.host)", "Host name (dashboardHost)")
	})
	u.refusesAnswers(t)
	steer(t, "form", "REFIT_URL="+url, "REFIT_TOKEN="+token, "REFIT_RELEASE="+firstShop, "REFIT_PASSWORD="+password)
	config, _ := u.config(t, firstShop)
	if config.Answers["host"] != "shop.example.com" || config.Answers["connections"] != 40.0 || !slices.Equal(config.Passwords, []string{"password"}) || len(config.Pending) > 0 {
		t.Errorf("the answers are %v, the passwords %v, pending are %v", config.Answers, config.Passwords, config.Pending)
	}

	first := u.planned(t, &spec, withoutForm)
	if first == unfilled {
		t.Error("the answers do not change the hash of the plan")
	}
	changed := time.Now()
	u.save(t, firstShop, client.Answers{"host": "shop.example.com", "connections": 41})
	second := u.planned(t, &spec, differsFrom(first))
	bed.Show(t, "form_answer_to_plan", time.Since(changed).Seconds(), "s")
	u.save(t, firstShop, client.Answers{"host": "shop.example.com", "connections": 40})
	if again := u.planned(t, &spec, differsFrom(second)); again != first {
		t.Errorf("the same answers have the hashes %s and %s", first, again)
	}
	texts := map[string]string{"the plan": s.RunRefit(t, "plan", "--components", "--release", firstShop, "-o", "json")}
	texts["the differences"] = s.RunRefit(t, "components", "diff", "shop", "--to", firstShop)

	u.refusesPlan(t, &spec, second)
	u.upgrade(t, &spec, first)
	isInstalled(t, s, "1.0.0", "40")
	u.save(t, firstShop, client.Answers{"host": "shop.example.com", "connections": 60}) // for the next version
	u.upToDate(t, &spec)
	isInstalled(t, s, "1.0.0", "40")

	publishShop(t, s, secondShop, "2.0.0")
	if config, _ = u.config(t, secondShop); config.Answers["connections"] != 60.0 || config.SavedFor != firstShop {
		t.Errorf("the answers of %s are %v, saved for %s", secondShop, config.Answers, config.SavedFor)
	}
	spec.Target.Release = secondShop
	u.planned(t, &spec, withoutForm)
	s.StartRefit(t, "upgrade", "--components", "--release", secondShop, "--yes").Wait(t, bed.Whole, bed.ExitDone)
	isInstalled(t, s, "2.0.0", "60")
	hasNoPassword(t, s, n, u, texts)
	bed.Show(t, "form_test", time.Since(begun).Seconds(), "s")
}

// publishShop signs a ClusterRelease with a version of two components and their form.
func publishShop(t *testing.T, s *bed.Site, name, version string) {
	t.Helper()
	chart := filepath.Join(t.TempDir(), "web")
	bed.Must(t, os.CopyFS(chart, os.DirFS("testdata/web")))
	file := filepath.Join(chart, "Chart.yaml")
	text, err := os.ReadFile(file)
	bed.Must(t, err)
	bed.Must(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "1.0.0", version)), 0o644))
	components := filepath.Join(t.TempDir(), "components.yaml")
	bed.Must(t, os.WriteFile(components, fmt.Appendf(nil, `components:
- name: dashboard
  chart: %[1]s
  release: {namespace: dashboard, name: dashboard}
  values: {image: %[2]s}
  userMay: ["ingress.**"]
- name: shop
  chart: %[1]s
  release: {namespace: shop, name: shop}
  values: {image: %[2]s}
  userMay: [dashboardHost, "database.**"]
%[3]s`, chart, versions.BusyboxImage, documentedForm(t)), 0o644))
	parts, err := s.Release(t.Context(), bed.Older)
	bed.Must(t, err)
	busybox := slices.IndexFunc(parts.Images, func(image string) bool { return strings.HasPrefix(filepath.Base(image), "busybox") })
	s.CreateNamedRelease(t, name, bed.Older, components, parts.Images[busybox])
	shown := bed.Run(t, s.Refit, "release", "show", filepath.Join(s.Dir, name+"-components.json"))
	bed.Must(t, bed.Mentions(string(shown), "Password of the user shop", "database.password"))
}

// documentedForm returns the form in docs/components.md.
func documentedForm(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/components.md")
	bed.Must(t, err)
	_, text, found := strings.Cut(string(page), "```yaml\nform:\n")
	text, _, ends := strings.Cut(text, "```\n")
	if !found || !ends {
		t.Fatal("docs/components.md has no form")
	}
	return "form:\n" + text
}

// editor returns the token of a user who may also fill in the form, with the roles of
// docs/serve.md.
func editor(t *testing.T, s *bed.Site) string {
	t.Helper()
	token := approver(t, s)
	_, err := s.Kubectl(t.Context(), nil, "create", "clusterrolebinding", "kim-editor", "--clusterrole=refit-component-editor", "--serviceaccount=default:kim")
	bed.Must(t, err)
	return token
}

// isInstalled fails unless the objects of both charts have the answers.
func isInstalled(t *testing.T, s *bed.Site, version, connections string) {
	t.Helper()
	for name, want := range map[string]map[string]string{
		"dashboard": {"version": version, "host": "shop.example.com", "tls": "true", "issuer": "letsencrypt", "dashboardHost": "", "connections": "5"},
		"shop":      {"version": version, "host": "", "tls": "false", "issuer": "none", "dashboardHost": "shop.example.com", "connections": connections},
	} {
		var data map[string]string
		text, err := s.Kubectl(t.Context(), nil, "--namespace="+name, "get", "configmap", name, "--output=jsonpath={.data}")
		bed.Must(t, err)
		bed.Must(t, json.Unmarshal(text, &data))
		if fmt.Sprint(data) != fmt.Sprint(want) {
			t.Errorf("the ConfigMap of %s has %v, want %v", name, data, want)
		}
	}
	printed, err := s.Kubectl(t.Context(), nil, "--namespace=shop", "exec", "deployment/shop", "--", "sh", "-c", "echo $CONNECTIONS $PASSWORD")
	bed.Must(t, err)
	if got := strings.TrimSpace(string(printed)); got != connections+" "+password {
		t.Errorf("the pod of the shop has %q", strings.ReplaceAll(got, password, "the password"))
	}
}

// findingsOfForm are the findings about required items that nobody has filled in.
func findingsOfForm(c *client.Check) (all string) {
	for i := range c.Report.Findings {
		if f := &c.Report.Findings[i]; f.Check == "FormIncomplete" {
			all += fmt.Sprintln(f.Severity, f.Object, f.Message, f.Remedy)
		}
	}
	return all
}

// mentionsForm returns an error unless each component has a warning, with these items.
func mentionsForm(c *client.Check, items ...string) error {
	return bed.Mentions(findingsOfForm(c), append(items, "Warn Component shop", "Warn Component dashboard", "refit serve")...)
}

func withoutForm(c *client.Check) error {
	if found := findingsOfForm(c); found != "" {
		return fmt.Errorf("the form is not filled in: %s", found)
	}
	return nil
}

func differsFrom(hash string) func(*client.Check) error {
	return func(c *client.Check) error {
		if c.Report.Plan.Hash == hash {
			return fmt.Errorf("the plan still has the hash %s", hash)
		}
		return withoutForm(c)
	}
}

// formUser is a user of the HTTP API.
type formUser struct{ api *client.ClientWithResponses }

func newFormUser(t *testing.T, url, token string) *formUser {
	t.Helper()
	api, err := client.NewClientWithResponses(url, client.WithHTTPClient(insecure(t)), client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}))
	bed.Must(t, err)
	return &formUser{api}
}

// config returns the form with its answers and their ETag.
func (u *formUser) config(t *testing.T, release string) (*client.Config, string) {
	t.Helper()
	answer, err := u.api.GetConfigWithResponse(t.Context(), &client.GetConfigParams{Release: release})
	bed.Must(t, err)
	if answer.JSON200 == nil {
		t.Fatalf("reading the form: %s", answer.Body)
	}
	return answer.JSON200, answer.HTTPResponse.Header.Get("ETag")
}

func (u *formUser) put(t *testing.T, release string, answers client.Answers) *client.PutConfigResponse {
	t.Helper()
	_, etag := u.config(t, release)
	answer, err := u.api.PutConfigWithResponse(t.Context(), &client.PutConfigParams{Release: release, IfMatch: etag}, client.ConfigAnswers{Answers: answers})
	bed.Must(t, err)
	return answer
}

// save saves answers. The password that is stored stays.
func (u *formUser) save(t *testing.T, release string, answers client.Answers) {
	t.Helper()
	if answer := u.put(t, release, answers); answer.JSON200 == nil || len(answer.JSON200.Pending) > 0 {
		t.Fatalf("saving %v: %s", answers, answer.Body)
	}
}

// refusesAnswers fails unless invalid answers are refused with the names of their items.
func (u *formUser) refusesAnswers(t *testing.T) {
	t.Helper()
	for _, c := range []struct {
		answers client.Answers
		want    string
	}{
		{client.Answers{}, "#/answers/host is required"},
		{
			client.Answers{"host": "NO HOST", "connections": 1000, "issuer": "nobody", "color": "red"},
			"#/answers/host must be a DNS name, such as shop.example.com, #/answers/issuer must be one of the options, " +
				"#/answers/connections must be between 5 and 500, #/answers/password is required, #/answers/color is not an item of the form",
		},
	} {
		answer := u.put(t, firstShop, c.answers)
		refused := answer.ApplicationProblemJSONDefault
		if refused == nil || refused.Status != http.StatusUnprocessableEntity {
			t.Fatalf("%v: %s", c.answers, answer.Body)
		}
		var got []string
		for _, e := range refused.Errors {
			got = append(got, e.Pointer+" "+e.Detail)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%v is refused with %q, want %q", c.answers, got, c.want)
		}
	}
}

// check checks the cluster and makes a plan.
func (u *formUser) check(ctx context.Context, spec *refitv1alpha1.ClusterUpgradeSpec) (*client.Check, error) {
	answer, err := u.api.CreateCheckWithResponse(ctx, &client.CreateCheckParams{Prefer: "wait=60"}, *spec)
	if err != nil {
		return nil, err
	}
	if answer.JSON200 == nil {
		return nil, fmt.Errorf("there is no report: %s", answer.Body)
	}
	return answer.JSON200, nil
}

// planned returns the hash of a plan that nothing blocks and that is as it should be. The offers of
// the components follow the answers.
func (u *formUser) planned(t *testing.T, spec *refitv1alpha1.ClusterUpgradeSpec, accept func(*client.Check) error) (hash string) {
	t.Helper()
	bed.Must(t, bed.Until(t.Context(), "the plan", bed.CheckTimeout, func(ctx context.Context) error {
		c, err := u.check(ctx, spec)
		if err != nil {
			return err
		}
		if c.Report.Plan == nil || c.Report.Blocked {
			return fmt.Errorf("it is blocked: %+v", c.Report.Findings)
		}
		hash = c.Report.Plan.Hash
		return accept(c)
	}))
	return hash
}

func (u *formUser) upToDate(t *testing.T, spec *refitv1alpha1.ClusterUpgradeSpec) {
	t.Helper()
	c, err := u.check(t.Context(), spec)
	bed.Must(t, err)
	if !c.UpToDate {
		t.Errorf("a changed answer is applied to the version that is installed: %+v", c.Report)
	}
}

// refusesPlan fails unless a plan with other answers is refused.
func (u *formUser) refusesPlan(t *testing.T, spec *refitv1alpha1.ClusterUpgradeSpec, hash string) {
	t.Helper()
	answer, err := u.api.StartOperationWithResponse(t.Context(), &client.StartOperationParams{IdempotencyKey: "other"}, client.OperationStart{Spec: *spec, Plan: hash})
	bed.Must(t, err)
	if p := answer.ApplicationProblemJSONDefault; p == nil || p.Code != "plan-changed" {
		t.Errorf("the plan with other answers: %s", answer.Body)
	}
}

// upgrade starts a plan and waits for its success.
func (u *formUser) upgrade(t *testing.T, spec *refitv1alpha1.ClusterUpgradeSpec, hash string) {
	t.Helper()
	begun := time.Now()
	answer, err := u.api.StartOperationWithResponse(t.Context(), &client.StartOperationParams{IdempotencyKey: "first"}, client.OperationStart{Spec: *spec, Plan: hash})
	bed.Must(t, err)
	if answer.JSON201 == nil || !answer.JSON201.Approved {
		t.Fatalf("the upgrade does not start: %s", answer.Body)
	}
	wait := &client.GetOperationParams{Wait: "ended", Timeout: "10m"}
	ended, err := u.api.GetOperationWithResponse(t.Context(), answer.JSON201.Name, wait)
	bed.Must(t, err)
	if ended.JSON200 == nil || ended.JSON200.Operation.Phase != string(refitv1alpha1.PhaseSucceeded) {
		t.Fatalf("the upgrade ended with %s", ended.Body)
	}
	bed.Show(t, "form_upgrade", time.Since(begun).Seconds(), "s")
}
