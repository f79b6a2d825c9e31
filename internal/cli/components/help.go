package components

// Help describes `refit components`.
const Help = `Show the components of a cluster, and what upgrades would change in them. A component is a Helm
chart that a ClusterRelease contains, such as metrics-server or an operator. refit-components
changes components; "install --components" installs it.`

// ListHelp describes `refit components list`.
const ListHelp = `List the components of a cluster: the installed version, its owner, who manages it, and a line for
each version that a ClusterRelease offers: the number of objects that it creates, changes and
deletes, and the problems that block it.`

// ExplainHelp describes `refit components explain`.
const ExplainHelp = `Explain the state of a component: what is installed and who owns it, each offer with its deletions,
CRDs and problems, the steps of the last upgrade and what it waits for, a freeze that is in force,
and the next commands.`

// DiffHelp describes `refit components diff`.
const DiffHelp = `Show what an upgrade would change in each object of a component, as a unified diff of the manifest
that Helm has stored and the one that the new version renders. The data of Secrets, and values that
differ from one rendering to the next, are masked. Hooks are not shown.

The command renders the chart itself, with your own permissions: it reads the charts in the
namespace refit-components, the Secrets with values that the Component names, and the Helm release
with its objects. It reports if its result differs from the offer in the status of the Component, on
which plans are based. It changes nothing.

Exits with 0, and with 3 if a problem blocks the upgrade of the component.`

// AdoptHelp describes `refit components adopt`.
const AdoptHelp = `Let Refit take over a component that somebody installed with Helm: set spec.adopt of its Component.
Refit takes it over with the next upgrade, and nothing in the cluster changes before. The values of
the Helm release are not taken over: add those that you need to spec.values.

A component that Flux or Argo CD manages is refused. The command requires the verb approve on
components, which the ClusterRole refit-component-editor has.`
