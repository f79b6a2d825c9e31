package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	openapi "github.com/refit-dev/refit/api"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/server/access"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

// permission is what a route requires.
type permission struct {
	// public routes need no caller. The others need one.
	public bool
	// needs are the permissions in the cluster. A caller without one of them is refused.
	needs []access.Attributes
	// writes are requests to the API server with the credentials of the caller: it decides again.
	// They fail while it is unreachable, and are in the audit log.
	writes bool
	// audited routes are in the audit log although they write nothing.
	audited bool
}

func refit(verb, resource string) access.Attributes {
	return access.Attributes{Verb: verb, Group: refitv1alpha1.GroupVersion.Group, Resource: resource}
}

// The permissions of reads. Every role of Refit has them.
var (
	readUpgrades = refit("list", "clusterupgrades")
	readOrders   = refit("list", "nodeupgrades")
	readReports  = refit("list", "nodereports")
	readReleases = refit("list", "clusterreleases")
	readNodes    = access.Attributes{Verb: "list", Resource: "nodes"}
	change       = refit("patch", "clusterupgrades")
	start        = refit("create", "clusterupgrades")
	approve      = refit("approve", "clusterupgrades")
	addRelease   = refit("create", "clusterreleases")

	changeComponents  = refit("patch", "components")
	approveComponents = refit("approve", "components")
	readAnswers       = access.Attributes{Verb: "get", Resource: "secrets", Namespace: cluster.ComponentsNamespace, Name: form.SecretName}
	writeAnswers      = access.Attributes{Verb: "update", Resource: "secrets", Namespace: cluster.ComponentsNamespace, Name: form.SecretName}

	readAll = []access.Attributes{readUpgrades, readOrders, readReports, readReleases, readNodes}
)

// table has the permission of each route, by its operationId.
type table map[string]permission

// permissions is the one list of who may do what. A route without a row is refused, and the server
// does not start.
var permissions = table{
	"GetHealthz": {public: true},
	"GetReadyz":  {public: true},
	"GetOpenapi": {public: true},

	"CreateSession": {public: true, audited: true}, // the credentials are in the body
	"GetSignIn":     {public: true},
	"StartOIDC":     {public: true}, // the issuer authenticates the browser
	"FinishOIDC":    {public: true, audited: true},
	"DeleteSession": {audited: true},
	"GetMe":         {},
	"ListAudit":     {needs: []access.Attributes{approve}},

	"GetState":           {needs: readAll},
	"GetEvents":          {needs: readAll},
	"ListReleases":       {needs: []access.Attributes{readUpgrades, readReleases}},
	"ListOperations":     {needs: []access.Attributes{readUpgrades}},
	"GetOperation":       {needs: []access.Attributes{readUpgrades, readOrders}},
	"ListNodes":          {needs: []access.Attributes{readUpgrades, readOrders, readReports, readNodes}},
	"ListOperationNodes": {needs: []access.Attributes{readUpgrades, readOrders, readReports, readNodes}},
	"GetNode":            {needs: []access.Attributes{readUpgrades, readOrders, readReports, readNodes}},

	"CreateCheck":      {needs: readAll, writes: true}, // it only reads, with the credentials of the caller
	"GetCheck":         {needs: readAll},
	"GetCheckManifest": {needs: readAll},

	// It needs a connection to the API server, which decides what the caller may read. The file may
	// leave the cluster, so who has read it is recorded.
	"CreateSupportBundle":  {needs: readAll, writes: true},
	"GetSupportBundle":     {needs: readAll},
	"GetSupportBundleFile": {needs: readAll, audited: true},

	// Most ClusterReleases have no form. If there is one, the API server decides who may read the
	// answers.
	"GetConfig":    {needs: []access.Attributes{readReleases}},
	"RenderConfig": {needs: []access.Attributes{readReleases}},
	"PutConfig":    {needs: []access.Attributes{readReleases, changeComponents, approveComponents, readAnswers, writeAnswers}, writes: true},

	"PutRelease":       {needs: []access.Attributes{addRelease, readReleases}, writes: true},
	"StartOperation":   {needs: append([]access.Attributes{start}, readAll...), writes: true},
	"ChangeOperation":  {needs: []access.Attributes{change}, writes: true},
	"PauseOperation":   {needs: []access.Attributes{change}, writes: true},
	"ResumeOperation":  {needs: []access.Attributes{change}, writes: true},
	"RetryOperation":   {needs: []access.Attributes{change}, writes: true},
	"AbortOperation":   {needs: []access.Attributes{change}, writes: true},
	"ApproveOperation": {needs: []access.Attributes{change, approve}, writes: true},
}

// complete returns an error unless the table has a row for each route, and no other.
func (t table) complete() error {
	routes, err := operationIDs()
	if err != nil {
		return err
	}
	for _, id := range routes {
		if _, found := t[id]; !found {
			return fmt.Errorf("the route %s has no permission", id)
		}
	}
	for id := range t {
		if !slices.Contains(routes, id) {
			return fmt.Errorf("the permission of %s has no route", id)
		}
	}
	return nil
}

// operationIDs returns the routes that openapi.yaml describes.
func operationIDs() ([]string, error) {
	var document struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := yaml.Unmarshal(openapi.OpenAPI, &document); err != nil {
		return nil, fmt.Errorf("cannot parse openapi.yaml: %w", err)
	}
	var out []string
	for path, methods := range document.Paths {
		for _, method := range slices.Sorted(maps.Keys(methods)) {
			route, is := methods[method].(map[string]any)
			if !is {
				continue // parameters of all methods
			}
			id, _ := route["operationId"].(string)
			if id == "" {
				return nil, fmt.Errorf("%s %s has no operationId", strings.ToUpper(method), path)
			}
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out, nil
}
