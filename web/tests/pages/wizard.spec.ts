import type { Page } from '@playwright/test'
import { reports } from '../documents/checks.ts'
import { expect, test } from './fixture.ts'

const start = /Start the upgrade to v1\.36\.3/

/** Goes from the cluster to a complete check. */
async function check(page: Page, url: string) {
  await page.goto(`${url}/upgrade/welcome?release=kubernetes-v1.36.3`)
  await page.getByRole('button', { name: 'Next: configuration' }).click()
  await page.getByRole('button', { name: 'Check the cluster' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Preflight checks' })).toBeVisible()
}

async function review(page: Page, url: string) {
  await check(page, url)
  await page.getByRole('button', { name: 'Next: plan' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Review the plan' })).toBeVisible()
}

test('from the cluster to a running upgrade with the keyboard alone', async ({ page, replay }) => {
  const { server, url } = await replay('idle')
  await page.goto(url)
  await page.getByRole('link', { name: 'Prepare an upgrade' }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'Choose the version' })).toBeFocused()
  const next = page.getByRole('button', { name: 'Next: configuration' })
  await expect(next).toHaveAttribute('aria-disabled', 'true')
  await page.getByRole('radio', { name: /v1\.36\.3/ }).focus()
  await page.keyboard.press('Space')
  await next.focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'Configure the upgrade' })).toBeFocused()
  await page.getByRole('textbox', { name: 'Nodes at the same time' }).focus()
  await page.keyboard.press('Enter') // as in any form
  await expect(page.getByRole('heading', { name: /The cluster is ready for the upgrade/ })).toBeVisible()
  await page.getByRole('button', { name: 'Next: plan' }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByText(reports.plan.plan?.hash ?? 'none').first()).toBeVisible()
  await page.getByRole('button', { name: start }).focus()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(`${url}/operations/to-v1-36-3`)
  expect(server.checks.starts).toHaveLength(1)
})

test('invalid fields are named at their fields, and the summary leads to them', async ({ page, replay }) => {
  const { server, url } = await replay('idle')
  server.checks.invalid = [
    { pointer: '#/pools/0/drain/timeout', detail: 'must be longer than 0s and at most 168h' },
    { pointer: '#/target/release', detail: 'there is no ClusterRelease kubernetes-v1.36.3' },
  ]
  await page.goto(`${url}/upgrade/welcome?release=kubernetes-v1.36.3`)
  await page.getByRole('button', { name: 'Next: configuration' }).click()
  await page.getByRole('textbox', { name: 'Timeout of a drain' }).fill('0s')
  await page.getByRole('button', { name: 'Check the cluster' }).click()
  await expect(page.getByRole('heading', { name: /2 fields are invalid/ })).toBeVisible()
  await expect(page.getByRole('textbox', { name: 'Timeout of a drain' })).toHaveAccessibleDescription(/must be longer than 0s/)
  await expect(page.getByText('there is no ClusterRelease kubernetes-v1.36.3')).toBeVisible()
  await page.getByRole('button', { name: 'All workers: Timeout of a drain' }).click()
  await expect(page.getByRole('textbox', { name: 'Timeout of a drain' })).toBeFocused()
})

test('a configuration outlives the tab, and a second tab follows the same check', async ({ page, context, replay }) => {
  const { server, url } = await replay('idle')
  server.checks.slow = true
  await page.goto(`${url}/upgrade/welcome?release=kubernetes-v1.36.3`)
  await page.getByRole('button', { name: 'Next: configuration' }).click()
  await page.getByRole('button', { name: 'Add a pool' }).click()
  await page.getByRole('textbox', { name: 'Labels of its nodes' }).fill('example.com/pool=gpu')
  await page.reload()
  await expect(page.getByRole('textbox', { name: 'Labels of its nodes' })).toHaveValue('example.com/pool=gpu')
  await page.getByRole('button', { name: 'Check the cluster' }).click()
  await expect(page.getByText('Checking the cluster')).toBeVisible()
  const address = page.url()
  await page.close()
  const other = await context.newPage()
  await other.goto(address)
  await expect(other.getByText('Reading: pods. Nothing is changed.')).toBeVisible()
  server.checks.finish()
  await expect(other.getByRole('heading', { name: /The cluster is ready for the upgrade/ })).toBeVisible()
})

test('a link to a check has its configuration in another browser', async ({ page, browser, replay }) => {
  const { url } = await replay('idle')
  await page.goto(`${url}/upgrade/welcome?release=kubernetes-v1.36.3`)
  await page.getByRole('button', { name: 'Next: configuration' }).click()
  await page.getByRole('radio', { name: 'Workers only' }).click()
  await page.getByRole('button', { name: 'Check the cluster' }).click()
  await expect(page.getByRole('heading', { name: /The cluster is ready for the upgrade/ })).toBeVisible()
  const context = await browser.newContext()
  const other = await context.newPage()
  await other.goto(page.url())
  await other.getByRole('link', { name: 'Configuration' }).click()
  await expect(other.getByRole('radio', { name: 'Workers only' })).toBeChecked()
  await context.close()
})

test('a blocking finding is waived with a reason, and the waiver can be removed', async ({ page, replay }) => {
  const { server, url } = await replay('idle')
  server.checks.report = reports.blocked
  await check(page, url)
  await expect(page.getByRole('heading', { name: /5 findings block it/ })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Could not be checked (2)' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Copy the command kubectl uncordon worker-2' })).toBeVisible()
  const waive = page.getByRole('button', { name: 'Waive BudgetNeverAllows: PodDisruptionBudget shop/cart' })
  await waive.click()
  await page.getByRole('button', { name: 'Waive and check again' }).click()
  await expect(page.getByText('Enter a reason.')).toBeVisible()
  await page.getByRole('textbox', { name: 'Reason' }).fill('the shop is closed at night')
  await page.getByRole('button', { name: 'Waive and check again' }).click()
  await expect(page.getByRole('heading', { name: /4 findings block it/ })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Waived (1)' }).getByText('the shop is closed at night')).toBeVisible()
  await expect(page.getByText(/--waive 'BudgetNeverAllows\/PodDisruptionBudget shop\/cart=the shop is closed at night'/).first()).toBeVisible()
  await page.getByRole('button', { name: /Remove the waiver of BudgetNeverAllows/ }).click()
  await expect(page.getByRole('heading', { name: /5 findings block it/ })).toBeVisible()
})

test('a blocked plan can be read, and not started', async ({ page, replay }) => {
  const { server, url } = await replay('idle')
  server.checks.report = reports.blocked
  await review(page, url)
  const button = page.getByRole('button', { name: start })
  await expect(button).toHaveAttribute('aria-disabled', 'true')
  await expect(button).toHaveAccessibleDescription('5 findings block the upgrade.')
  await button.click({ force: true })
  expect(server.checks.starts).toEqual([])
})

test('a double click and a lost answer start one upgrade', async ({ page, replay }) => {
  const { server, url } = await replay('idle')
  server.checks.lost = 1
  await review(page, url)
  await page.getByRole('button', { name: start }).dblclick()
  await expect(page.getByRole('heading', { name: /the upgrade may have started/ })).toBeVisible()
  await page.reload()
  await page.getByRole('button', { name: start }).click()
  await expect(page).toHaveURL(`${url}/operations/to-v1-36-3`)
  expect(new Set(server.checks.starts.map(({ key }) => key)).size).toBe(1)
  expect(server.checks.operations).toBe(1)
  expect(server.checks.starts).toHaveLength(2)
})

test('a plan that has changed is shown, and needs another click', async ({ page, replay }) => {
  const { server, url } = await replay('idle')
  server.checks.onStart = 'plan-changed'
  await review(page, url)
  await page.getByRole('button', { name: start }).click()
  await expect(page.getByRole('heading', { name: /The plan has changed since you reviewed it/ })).toBeVisible()
  await expect(page.getByText('New in the plan: worker-6')).toBeVisible()
  await expect(page.getByText(`sha256:${'ab'.repeat(32)}`).first()).toBeVisible()
  expect(server.checks.operations).toBe(0)
  await page.getByRole('button', { name: start }).click()
  await expect(page).toHaveURL(`${url}/operations/to-v1-36-3`)
  expect(server.checks.starts.map(({ plan }) => plan)).toEqual([reports.plan.plan?.hash, `sha256:${'ab'.repeat(32)}`])
  expect(new Set(server.checks.starts.map(({ key }) => key)).size).toBe(2)
})

test('findings that appear at the start are shown', async ({ page, replay }) => {
  const { server, url } = await replay('idle')
  server.checks.onStart = 'blocked'
  await review(page, url)
  await page.getByRole('button', { name: start }).click()
  await expect(page.getByRole('heading', { name: /The upgrade did not start: the cluster has changed/ })).toBeVisible()
  await expect(page.getByRole('heading', { name: /5 findings block it/ })).toBeVisible()
})

test('a start that the server refuses has its remedy', async ({ page, replay }) => {
  const { server, url } = await replay('idle')
  server.checks.onStart = 'no-controllers'
  await review(page, url)
  await page.getByRole('button', { name: start }).click()
  await expect(page.getByText('No controller leads.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Copy the command refit install' })).toBeVisible()
})

test('a check that the server has lost can be made again', async ({ page, replay }) => {
  const { url } = await replay('idle')
  await page.goto(`${url}/upgrade/preflight?check=gone`)
  await expect(page.getByRole('heading', { name: /The server does not have this check any more/ })).toBeVisible()
  await page.getByRole('link', { name: 'Version' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Choose the version' })).toBeVisible()
})

test('while the API server is unreachable nothing can be sent, and the page shows why', async ({ page, replay }) => {
  const { url } = await replay('idleOutage')
  await page.goto(`${url}/upgrade/welcome?release=kubernetes-v1.36.3`)
  await page.getByRole('button', { name: 'Next: configuration' }).click()
  const button = page.getByRole('button', { name: 'Check the cluster' })
  await expect(button).toHaveAttribute('aria-disabled', 'true')
  await expect(button).toHaveAccessibleDescription('The API server is unreachable. Changes are possible once it answers.')
})

test('a viewer checks and plans, and cannot start', async ({ page, replay }) => {
  const { url } = await replay('idleViewer')
  await review(page, url)
  await expect(page.getByRole('button', { name: start })).toHaveAttribute('aria-disabled', 'true')
  await expect(page.getByText('You do not have the permission: patch clusterupgrades.refit.dev.')).toBeVisible()
})

test('who may not approve reads that the upgrade will wait', async ({ page, replay }) => {
  const { url } = await replay('idleOperator')
  await review(page, url)
  await expect(page.getByRole('heading', { name: /but not approve plans/ })).toBeVisible()
})

test('a signed file adds a ClusterRelease and chooses it', async ({ page, replay }) => {
  const { url } = await replay('noReleases')
  await page.goto(`${url}/upgrade/welcome`)
  const file = (text: string) => ({ name: 'release.yaml', mimeType: 'application/yaml', buffer: Buffer.from(text) })
  await page.getByLabel('Signed file').setInputFiles(file('other: true\n'))
  await page.getByRole('textbox', { name: 'Name of the ClusterRelease' }).fill('other')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await expect(page.getByText('No key that the hosts accept has signed the file.')).toBeVisible()
  await page.getByLabel('Signed file').setInputFiles(file('apiVersion: refit.dev/v1alpha1\nkind: ClusterRelease\nmetadata:\n  labels: {}\n  name: kubernetes-v1.37.1\n'))
  await expect(page.getByRole('textbox', { name: 'Name of the ClusterRelease' })).toHaveValue('kubernetes-v1.37.1')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await expect(page.getByRole('radio', { name: /v1\.37\.1/ })).toBeChecked()
})

test('a blocked drain continues with another policy of its pool', async ({ page, replay }) => {
  const { server, url } = await replay('drainBlocked')
  await page.goto(`${url}/operations/to-v1-36-3`)
  await page.getByRole('button', { name: 'Let the drain of worker-1 continue' }).click()
  await page.getByRole('radio', { name: /Skip nodes that cannot be drained/ }).click()
  await page.getByRole('button', { name: 'Change the upgrade' }).click()
  await expect(page.getByText('The plan changes, and needs approval.')).toBeVisible()
  expect(server.checks.patches).toEqual([{ etag: '"spec-1"', body: { pools: [{ name: 'default', drain: { onBlocked: 'Skip' } }] } }])
})
