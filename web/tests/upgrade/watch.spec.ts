import { appendFileSync, existsSync } from 'node:fs'
import { expect, test } from '@playwright/test'
import { startUpgrade } from './start.ts'
import { statements } from './statements.ts'

const { REFIT_TOKEN = '', REFIT_VERSION = '', REFIT_STATEMENTS = '', REFIT_SCREENSHOTS, REFIT_STOP = '' } = process.env

test('an upgrade from its start in the wizard, each second', async ({ page, baseURL }) => {
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('request', (request) => {
    if (request.url().startsWith('http') && !request.url().startsWith(baseURL ?? 'none')) faults.push(`request to ${request.url()}`)
  })
  await page.goto('/')
  await page.getByRole('textbox', { name: 'Token' }).fill(REFIT_TOKEN)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByText('live', { exact: true })).toBeVisible()
  await startUpgrade(page, REFIT_VERSION)

  const pictures = new Set<string>()
  for (let next = Date.now(); !existsSync(REFIT_STOP); next += 1000) {
    const now = await statements(page)
    appendFileSync(REFIT_STATEMENTS, `${JSON.stringify(now)}\n`)
    const scene = now.banner || now.phase
    if (REFIT_SCREENSHOTS && scene && !pictures.has(scene)) {
      pictures.add(scene)
      await page.screenshot({ path: `${REFIT_SCREENSHOTS}/upgrade-${pictures.size}.png` })
    }
    await page.waitForTimeout(Math.max(0, next + 1000 - Date.now()))
  }
  expect(faults, 'errors and requests to other hosts').toEqual([])
})
