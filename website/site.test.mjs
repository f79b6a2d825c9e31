import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOf, linkOf, pagesOf, sidebarOf, slug } from './pages.mjs'
import { versionsOf } from './versions.mjs'

test('without tags, the checkout is the site', () => {
  assert.deepEqual(versionsOf([]), [{ label: 'development', ref: '', base: '/' }])
  assert.deepEqual(versionsOf(['v0.1.0-rc.1', 'nightly'], '/refit/'), [{ label: 'development', ref: '', base: '/refit/' }])
})

test('each minor version has the documentation of its newest patch release', () => {
  assert.deepEqual(versionsOf(['v0.9.0', 'v0.10.0', 'v0.9.10', 'v0.9.2', 'v0.11.0-rc.1'], '/'), [
    { label: 'v0.10', ref: 'v0.10.0', base: '/v0.10/' },
    { label: 'v0.9', ref: 'v0.9.10', base: '/v0.9/' },
    { label: 'development', ref: '', base: '/dev/' },
  ])
})

test('links lead to pages of the site and to files of the repository', () => {
  const pages = pagesOf('..')
  const link = (from, href) => linkOf('..', pages, 'https://git.example/r', 'v1', from, href)
  assert.equal(link('docs/install.md', 'agent.md#settings'), '/agent.md#settings')
  assert.equal(link('docs/install.md', '../README.md'), '/overview.md')
  assert.equal(link('README.md', 'docs/design/README.md'), '/design/index.md')
  assert.equal(link('docs/runbooks/restore.md', '../backup.md'), '/backup.md')
  assert.equal(link('docs/install.md', '../config/rbac'), 'https://git.example/r/tree/v1/config/rbac')
  assert.equal(link('docs/metrics.md', 'alerts/refit.yaml'), 'https://git.example/r/blob/v1/docs/alerts/refit.yaml')
  assert.equal(link('docs/install.md', 'https://kubernetes.io/#a'), 'https://kubernetes.io/#a')
  assert.equal(link('docs/install.md', '#images'), '#images')
  assert.throws(() => link('docs/install.md', 'missing.md'), /leads nowhere/)
})

test('anchors are those of GitHub', () => {
  assert.equal(slug('Check, plan and upgrade'), 'check-plan-and-upgrade')
  assert.equal(slug('`spec.backup` of a ClusterUpgrade'), 'specbackup-of-a-clusterupgrade')
})

test('the sidebar has every page once', () => {
  const pages = pagesOf('..')
  const links = []
  const collect = (items) => items.forEach((i) => (i.link && links.push(i.link), i.items && collect(i.items)))
  collect(sidebarOf('..', pages))
  const want = [...pages.values()].filter((page) => page !== 'index.md').map((page) => '/' + page)
  assert.deepEqual(links.sort(), want.sort())
  assert.equal(addressOf('internal/README.md'), undefined)
})
