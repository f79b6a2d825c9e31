import { relative, resolve, sep } from 'node:path'
import { defineConfig } from 'vitepress'
import { excludedOf, linkOf, pagesOf, sidebarOf, slug } from '../pages.mjs'
import { development } from '../versions.mjs'

const website = resolve(import.meta.dirname, '..')
const repository = 'https://github.com/refit-dev/refit'

// build.mjs sets these for each version; the defaults are for `npm run dev`.
const source = resolve(process.env.SITE_SOURCE ?? resolve(website, '..'))
const base = process.env.SITE_BASE ?? '/'
const label = process.env.SITE_VERSION ?? development
const versions = JSON.parse(process.env.SITE_VERSIONS ?? JSON.stringify([{ label, base }]))
const ref = process.env.SITE_REF || 'main'

const pages = pagesOf(source)
const sidebar = sidebarOf(source, pages)
const firstOf = (section) => sidebar.find(({ text }) => text === section).items[0].link

// Pages that consist of wide tables, with their classes in style.css.
const wide = { 'reference/api.md': 'wide fields', 'troubleshooting.md': 'wide', 'compatibility.md': 'wide' }

// An icon without a request.
const icon =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1d63c4"/>' +
      '<path d="M16 6l8 8h-5v12h-6V14H8z" fill="#fff"/></svg>',
  )

// The pages are outside the folder that has the packages: resolve their imports from here.
const packages = {
  name: 'packages-of-website',
  enforce: 'pre',
  resolveId(id, importer) {
    if (/^(vue|vitepress|@vue)(\/|$)/.test(id) && importer && !importer.startsWith(website)) {
      return this.resolve(id, resolve(website, 'build.mjs'), { skipSelf: true })
    }
  },
}

export default defineConfig({
  title: 'Refit',
  description: 'Upgrade self-managed Kubernetes clusters in place',
  lang: 'en',
  base,
  srcDir: source,
  outDir: process.env.SITE_OUT ?? resolve(website, '../bin/site'),
  cacheDir: resolve(website, '../bin/site-cache'),
  srcExclude: excludedOf(source, pages),
  rewrites: Object.fromEntries(pages),
  cleanUrls: false,
  head: [['link', { rel: 'icon', href: icon }]],
  markdown: {
    anchor: { slugify: slug },
    headers: { slugify: slug },
    config(md) {
      md.core.ruler.push('repository-links', ({ tokens, env }) => {
        const from = relative(source, env.realPath ?? env.path).split(sep).join('/')
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          if (token.type !== 'link_open') continue
          token.attrSet('href', linkOf(source, pages, repository, ref, from, token.attrGet('href')))
        }
      })
    },
  },
  transformPageData({ relativePath, frontmatter }) {
    if (wide[relativePath]) Object.assign(frontmatter, { aside: false, pageClass: wide[relativePath] })
  },
  vite: { plugins: [packages] },
  themeConfig: {
    siteTitle: 'Refit',
    logo: icon,
    nav: [
      { text: 'Get started', link: '/get-started' },
      { text: 'Tasks', link: firstOf('Tasks') },
      { text: 'Reference', link: firstOf('Reference') },
      { text: 'Internals', link: firstOf('Internals') },
      { component: 'VersionSelect', props: { versions, current: label } },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    externalLinkIcon: true,
  },
})
