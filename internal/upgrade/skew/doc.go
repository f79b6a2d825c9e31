// Package skew is the arithmetic of Kubernetes versions: which versions may run beside each other,
// which versions lie between two, and when workers must be upgraded.
//
// The rules are those of the Kubernetes version skew policy and of etcd's upgrade guides.
package skew
