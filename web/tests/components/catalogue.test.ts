import { expect, test } from 'vitest'
import en from '../../src/i18n/en.json'

const sources = import.meta.glob('../../src/**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true })
const code = Object.values(sources).join('\n')

function paths(value: object, prefix = ''): string[] {
  return Object.entries(value).flatMap(([name, child]) =>
    typeof child === 'object' ? paths(child as object, `${prefix}${name}.`) : [`${prefix}${name.replace(/_(one|other)$/, '')}`])
}

test('every text is in use', () => {
  const unused = paths(en).filter((path) => {
    const group = path.slice(0, path.lastIndexOf('.') + 1)
    return !code.includes(`'${path}'`) && !(group !== '' && code.includes(`\`${group}\${`)) && !code.includes(`\`${path.replace(/^(\w+)\.\w+Help$/, '$1.${verb}Help')}\``)
  })
  expect(unused).toEqual([])
})

// The compiler finds a key that does not exist, unless a cast hides it.
test('every text and every group of texts that the code names exists', () => {
  const known = new Set(paths(en))
  const named = [...code.matchAll(/\bt\('([\w.]+)'/g)].map(([, key = '']) => key)
  expect(named.length).toBeGreaterThan(200)
  expect(named.filter((key) => !known.has(key))).toEqual([])
  const groups = [...code.matchAll(/\bt\(`([\w.]+)\.\$\{/g)].map(([, group = '']) => group)
  expect(groups.length).toBeGreaterThan(10)
  expect(groups.filter((group) => ![...known].some((key) => key.startsWith(`${group}.`)))).toEqual([])
})
