import { expect, test, type Page } from '@playwright/test'

const { REFIT_TOKEN = '', REFIT_VERSION = '', REFIT_WORKER = '', REFIT_CONTROL = '' } = process.env
const minutes = 60_000
const patient = { timeout: 12 * minutes }

/** Changes the cluster behind the page. */
async function control(change: string) {
  const answer = await fetch(`${REFIT_CONTROL}/${change}`, { method: 'POST' })
  expect(answer.status, await answer.text()).toBe(200)
}

test('an upgrade is started with a waiver, unblocked, paused, approved again, and retried after a failure', async ({ page }) => {
  await page.goto('/')
  await page.getByRole('textbox', { name: 'Token' }).fill(REFIT_TOKEN)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await startWithWaiver(page)

  await unblockable(page)
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await expect(page.locator('.refit-phase')).toHaveText('Paused', { timeout: minutes })
  await page.getByRole('button', { name: 'Resume', exact: true }).click()
  await unblockable(page)

  await page.getByRole('button', { name: `Let the drain of ${REFIT_WORKER} continue` }).click()
  await page.getByRole('radio', { name: 'Delete the pods that block' }).check()
  await page.getByRole('button', { name: 'Change the upgrade' }).click()
  const approve = page.getByRole('button', { name: 'Approve this plan' })
  await expect(approve).toBeVisible({ timeout: 2 * minutes })
  await control('break') // before the plan goes on
  await approve.click()

  await page.goto(`/nodes/${REFIT_WORKER}`)
  await expect(page.getByRole('region', { name: 'Log (its end)' })).toContainText('pod-infra-container-image', patient)
  await control('repair')
  await page.goBack()
  await page.getByRole('button', { name: 'Retry', exact: true }).click()
  await expect(page.locator('.refit-phase')).toHaveText('Succeeded', patient)
})

/** Goes through the wizard, and waives the PodDisruptionBudget that allows no disruption. */
async function startWithWaiver(page: Page) {
  await page.getByRole('link', { name: 'Prepare an upgrade' }).click()
  await page.getByRole('radio', { name: REFIT_VERSION }).click()
  await page.getByRole('button', { name: 'Next: configuration' }).click()
  await page.getByRole('button', { name: 'Check the cluster' }).click()
  await page.getByRole('button', { name: 'Waive BudgetNeverAllows: PodDisruptionBudget shop/never' }).click({ timeout: 2 * minutes })
  await page.getByRole('textbox', { name: 'Reason' }).fill('the shop is closed at night')
  await page.getByRole('button', { name: 'Waive and check again' }).click()
  const plan = page.getByRole('button', { name: 'Next: plan' })
  await expect(plan).toBeEnabled({ timeout: 2 * minutes })
  await plan.click()
  await page.getByRole('button', { name: `Start the upgrade to ${REFIT_VERSION}` }).click()
  await expect(page).toHaveURL(/\/operations\//, { timeout: 2 * minutes })
}

/** Waits until the page offers to let the drain continue, and names the pod that blocks. */
async function unblockable(page: Page) {
  await expect(page.getByRole('button', { name: `Let the drain of ${REFIT_WORKER} continue` })).toBeVisible(patient)
  await expect(page.getByText(/shop\/never-/).first()).toBeVisible()
}
