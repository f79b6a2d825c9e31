import { expect, test } from './fixture.ts'

const upgrade = '/operations/to-v1-36-3'

test('an upgrade that succeeded shows its versions, and that nothing is left', async ({ page, replay }) => {
  const { url } = await replay('succeeded')
  await page.goto(url + upgrade)
  const result = page.getByRole('region', { name: 'Result' })
  await expect(result.getByText('5:30')).toBeVisible()
  await expect(result.getByText('v1.35.4 → v1.36.3')).toBeVisible()
  await expect(page.getByText('Nothing is left to do.')).toBeVisible()
  await expect(page.getByRole('row', { name: /worker-1/ }).getByText('v1.35.4 → v1.36.3')).toBeVisible()
})

test('an aborted upgrade shows what failed, was rolled back or skipped, what is left, and who changed it', async ({ page, replay }) => {
  const { url } = await replay('aborted')
  await page.goto(url + upgrade)
  await expect(page.getByRole('heading', { name: /aborted with 3 of 5 nodes at v1.36.3/ })).toBeVisible()
  const result = page.getByRole('region', { name: 'Result' })
  await expect(result.getByText('1 skipped')).toBeVisible()
  await expect(result.getByText('rolled back', { exact: true })).toBeVisible()
  await expect(page.getByText('Fix the failed nodes: each has its cause and its remedy above.')).toBeVisible()
  await expect(page.getByText('refit support-bundle to-v1-36-3')).toBeVisible()
  const audit = page.getByRole('region', { name: 'Audit log of this operation' })
  await expect(audit.getByText('Abort', { exact: true })).toBeVisible()
  await expect(audit.getByText('refused: 403 forbidden')).toBeVisible()
  await expect(audit.getByText('Pause', { exact: true })).toBeHidden()
  await page.getByRole('link', { name: 'Prepare an upgrade' }).click()
  await expect(page.getByRole('radio', { name: /v1\.36\.3/ })).toBeChecked()
})

test('an upgrade of components that was aborted names the failed one, and lists the others', async ({ page, replay }) => {
  const { url } = await replay('abortedComponents')
  await page.goto(url + upgrade)
  await expect(page.getByRole('heading', { name: /kueue failed/ })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Result' }).getByText('2 not changed')).toBeVisible()
  await expect(page.getByText('refit components list')).toBeVisible()
})

test('a cluster without Refit shows the command that installs it, and offers no upgrade', async ({ page, replay }) => {
  const { url } = await replay('notInstalled')
  await page.goto(url)
  await expect(page.getByRole('heading', { name: /Refit is not installed in prod/ })).toBeVisible()
  await expect(page.getByText('refit install', { exact: true })).toBeVisible()
  await expect(page.getByText(/could not be read/)).toBeHidden()
  await expect(page.getByRole('link', { name: 'Prepare an upgrade' })).toBeHidden()
})

test('a cluster without ClusterReleases and upgrades shows the command that adds one', async ({ page, replay }) => {
  const { url } = await replay('fresh')
  await page.goto(url)
  await expect(page.getByText('refit release add v1.36 --online')).toBeVisible()
  await expect(page.getByText('There are no upgrades yet.')).toBeVisible()
  await expect(page.getByRole('link', { name: 'Prepare an upgrade' })).toBeVisible()
})
