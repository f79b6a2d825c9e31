// Package charts stores the charts of components in a cluster: immutable ConfigMaps that are named
// after the digest of the chart. Their content is not trusted. It is compared with the digest and
// the size that are signed.
package charts
