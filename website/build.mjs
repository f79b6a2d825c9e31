// Builds the site into bin/site: the checkout and, if there are releases, the newest tag of each
// minor version. CONTRIBUTING.md describes it.
//
//	SITE_BASE   the path at which the site is served, "/" by default
//	SITE_TAGS   the tags to build, separated by spaces; all tags that have a site by default
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { versionsOf } from './versions.mjs'

const root = resolve(import.meta.dirname, '..')
const out = resolve(root, 'bin/site')
const base = process.env.SITE_BASE ?? '/'

const git = (...args) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe'] })

// tagsOf returns the tags whose tree has the page that the sidebar comes from.
function tagsOf() {
  if (process.env.SITE_TAGS !== undefined) return process.env.SITE_TAGS.split(' ').filter(Boolean)
  const tags = git('tag', '--list', 'v*').split('\n').filter(Boolean)
  return tags.filter((tag) => git('ls-tree', '--name-only', tag, 'docs/README.md') !== '')
}

// extract writes the files of a tag to a directory: pages link to any of them.
function extract(tag, to) {
  mkdirSync(to, { recursive: true })
  const archive = execFileSync('git', ['-C', root, 'archive', '--format=tar', tag], { maxBuffer: 1 << 30 })
  execFileSync('tar', ['-x', '-C', to], { input: archive })
}

function build(version, versions, source) {
  const env = {
    ...process.env,
    SITE_SOURCE: source,
    SITE_BASE: version.base,
    SITE_OUT: join(out, version.base.slice(base.length)),
    SITE_VERSION: version.label,
    SITE_REF: version.ref,
    SITE_VERSIONS: JSON.stringify(versions),
  }
  const vitepress = join(import.meta.dirname, 'node_modules/vitepress/bin/vitepress.js')
  const { status } = spawnSync(process.execPath, [vitepress, 'build', import.meta.dirname], { env, stdio: 'inherit' })
  if (status !== 0) throw new Error(`cannot build ${version.label}`)
}

const versions = versionsOf(tagsOf(), base)
const scratch = mkdtempSync(join(tmpdir(), 'refit-site-'))
try {
  rmSync(out, { recursive: true, force: true })
  for (const version of versions) {
    const source = version.ref === '' ? root : join(scratch, version.label)
    if (version.ref !== '') extract(version.ref, source)
    build(version, versions, source)
  }
  if (versions.length > 1) {
    const [{ base: newest }] = versions
    writeFileSync(
      join(out, 'index.html'),
      `<!doctype html><meta charset="utf-8"><title>Refit</title><meta http-equiv="refresh" content="0; url=${newest}"><a href="${newest}">Refit</a>\n`,
    )
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
