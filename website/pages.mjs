// The pages of the site: which Markdown files it has, their addresses, and the sidebar. The files
// stay where GitHub shows them; nothing is copied.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'

// The pages outside docs/, with their addresses.
const others = {
  'README.md': 'overview.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'ROADMAP.md': 'roadmap.md',
  'SECURITY.md': 'security.md',
  'examples/README.md': 'examples.md',
}

// addressOf returns the path of a page in the site, or undefined for other files.
export function addressOf(file) {
  if (others[file]) return others[file]
  if (!file.startsWith('docs/') || !file.endsWith('.md')) return undefined
  return file.slice('docs/'.length).replace(/(^|\/)README\.md$/, '$1index.md')
}

// pagesOf returns all pages of a source tree, by file.
export function pagesOf(source) {
  const files = Object.keys(others).filter((file) => existsSync(join(source, file)))
  const visit = (folder) => {
    for (const entry of readdirSync(join(source, folder), { withFileTypes: true })) {
      const name = posix.join(folder, entry.name)
      if (entry.isDirectory()) visit(name)
      else if (name.endsWith('.md')) files.push(name)
    }
  }
  visit('docs')
  return new Map(files.map((file) => [file, addressOf(file)]))
}

// excludedOf returns patterns for the other Markdown files, and for the folders that have no pages:
// VitePress would search all of them.
export function excludedOf(source, pages) {
  const tops = new Set([...pages.keys()].map((page) => page.split('/')[0]))
  const excluded = []
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    if (tops.has(entry.name)) continue
    if (entry.isDirectory()) excluded.push(`${entry.name}/**`)
    else if (entry.name.endsWith('.md')) excluded.push(entry.name)
  }
  return excluded
}

// linkOf returns where a link of a page leads in the site: to a page, or to a file in the
// repository. Links with a scheme stay as they are.
export function linkOf(source, pages, repository, ref, from, href) {
  if (/^[a-z][a-z0-9+.-]*:/i.test(href) || href.startsWith('#') || href.startsWith('/')) return href
  const [path, hash = ''] = href.split(/(?=#)/)
  let target = posix.normalize(posix.join(posix.dirname(from), path)).replace(/\/$/, '')
  if (pages.has(target + '/README.md')) target += '/README.md'
  if (pages.has(target)) return '/' + pages.get(target) + hash
  if (!existsSync(join(source, target))) throw new Error(`${from}: the link ${href} leads nowhere`)
  const kind = statSync(join(source, target)).isDirectory() ? 'tree' : 'blob'
  return `${repository}/${kind}/${ref}/${target}${hash}`
}

// slug returns the anchor that GitHub gives a heading, so that a link works in both places.
export function slug(title) {
  return title.trim().toLowerCase().replace(/[^\p{L}\p{N}\- _]/gu, '').replaceAll(' ', '-')
}

const item = /^- \[([^\]]+)\]\(([^)#]+)\)/

// sidebarOf returns the sidebar: the sections and links of docs/README.md. A page that ends with a
// table of pages, such as the design records, has them below it.
export function sidebarOf(source, pages) {
  const sections = []
  for (const line of readFileSync(join(source, 'docs/README.md'), 'utf8').split('\n')) {
    if (line.startsWith('## ')) sections.push({ text: line.slice(3), items: [] })
    const match = line.match(item)
    if (!match) continue
    const file = posix.normalize(posix.join('docs', match[2]))
    if (!pages.has(file)) throw new Error(`docs/README.md: ${match[2]} is not a page`)
    const entry = { text: match[1], link: '/' + pages.get(file) }
    const folder = posix.dirname(file)
    if (file.endsWith('/README.md') && folder.startsWith('docs/')) {
      entry.collapsed = true
      entry.items = [...pages.keys()]
        .filter((page) => posix.dirname(page) === folder && page !== file)
        .sort()
        .map((page) => ({ text: titleOf(source, page), link: '/' + pages.get(page) }))
    }
    sections.at(-1).items.push(entry)
  }
  return sections
}

function titleOf(source, file) {
  return readFileSync(join(source, file), 'utf8').match(/^# (.+)$/m)[1]
}
