import { expect, test } from '@playwright/test'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const assets = fileURLToPath(new URL('../../dist/assets/', import.meta.url))

function kilobytes(extension: string): number {
  const files = readdirSync(assets).filter((file) => file.endsWith(extension))
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(assets + file)).length, 0) / 1024
}

for (const [extension, most] of [['.js', 260], ['.css', 130]] as const) {
  test(`all pages together need at most ${most} KB of compressed ${extension}`, () => {
    const size = kilobytes(extension)
    console.log(`figure web_gzip${extension} ${size.toFixed(0)} KB`)
    expect(size).toBeGreaterThan(10)
    expect(size).toBeLessThanOrEqual(most)
  })
}
