import { readFileSync } from 'node:fs'
import { expect, test } from './fixture.ts'

const upgrade = '/operations/to-v1-36-3'

test('a support bundle is collected, shows its progress and what is missing, and is downloaded', async ({ page, replay }) => {
  const { server, url } = await replay('aborted')
  await page.goto(url + upgrade)
  const panel = page.getByRole('region', { name: 'Report a problem' })
  await panel.getByRole('button', { name: 'Collect a support bundle' }).click()
  await expect(panel.getByText('cp-1 reads the journals')).toBeVisible()
  await expect(panel.getByText('1 part was collected.')).toBeVisible()
  await expect(panel.getByRole('link', { name: /Download/ })).toBeHidden()
  expect(server.bundles.requested).toEqual([{ operation: 'to-v1-36-3' }])
  server.bundles.finish()
  await expect(panel.getByText('2 parts were collected.')).toBeVisible()
  await panel.getByText('1 part is missing').click()
  await expect(panel.getByText('worker-3: journals of the host')).toBeVisible()
  await expect(panel.getByText('refit-agent support-bundle', { exact: true })).toBeVisible()
  const downloading = page.waitForEvent('download')
  await panel.getByRole('link', { name: 'Download the file (3.3 MiB)' }).click()
  const file = await downloading
  expect(file.suggestedFilename()).toBe('refit-support-bundle-20261119T080000Z.tar.gz')
  expect(readFileSync(await file.path(), 'utf8')).toBe('archive of bundle-1')
})

test('a support bundle is found again after a reload', async ({ page, replay }) => {
  const { server, url } = await replay('aborted')
  await page.goto(url + upgrade)
  await page.getByRole('button', { name: 'Collect a support bundle' }).click()
  await expect(page.getByText('cp-1 reads the journals')).toBeVisible()
  await page.reload()
  await expect(page.getByText('cp-1 reads the journals')).toBeVisible()
  server.bundles.finish()
  await expect(page.getByRole('link', { name: /Download/ })).toBeVisible()
  expect(server.bundles.requested).toHaveLength(1)
})

test('a support bundle that the server has no space for shows why', async ({ page, replay }) => {
  const { server, url } = await replay('aborted')
  server.bundles.full = true
  await page.goto(url + upgrade)
  await page.getByRole('button', { name: 'Collect a support bundle' }).click()
  await expect(page.getByRole('alert').getByText('The server has no disk space for a support bundle.')).toBeVisible()
  await expect(page.getByText('refit support-bundle to-v1-36-3')).toBeVisible()
})
