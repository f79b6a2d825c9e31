import { expect, test, type Page } from '@playwright/test'
import { signIn, startWithWaiver } from './waive.ts'

const { REFIT_TOKEN = '', REFIT_VERSION = '', REFIT_WORKER = '', REFIT_CONTROL = '' } = process.env
const minutes = 60_000
const patient = { timeout: 12 * minutes }

/** Changes the cluster behind the page. */
async function control(change: string) {
  const answer = await fetch(`${REFIT_CONTROL}/${change}`, { method: 'POST' })
  expect(answer.status, await answer.text()).toBe(200)
}

test('an upgrade is started with a waiver, unblocked, paused, approved again, and retried after a failure', async ({ page }) => {
  await signIn(page, REFIT_TOKEN)
  await startWithWaiver(page, REFIT_VERSION)

  await unblockable(page)
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await expect(page.locator('.refit-phase')).toHaveText('Paused', { timeout: minutes })
  await page.getByRole('button', { name: 'Resume', exact: true }).click()
  await unblockable(page)

  await page.getByRole('button', { name: `Let the drain of ${REFIT_WORKER} continue` }).click()
  await page.getByRole('radio', { name: 'Delete the pods that block' }).check()
  await page.getByRole('textbox', { name: 'When a drain has taken' }).fill('1m')
  await expect(page.getByText(`It applies to ${REFIT_WORKER} as soon as the plan is approved.`)).toBeVisible({ timeout: 2 * minutes })
  await page.getByRole('button', { name: 'Change the upgrade' }).click()
  const approve = page.getByRole('button', { name: 'Approve this plan' })
  await expect(approve).toBeVisible({ timeout: 2 * minutes })
  await control('break') // before the plan goes on
  await approve.click()
  await expect(page.locator('.refit-phase')).not.toHaveText('Awaiting approval', { timeout: 2 * minutes })

  await page.goto(`/nodes/${REFIT_WORKER}`)
  await expect(page.getByRole('region', { name: 'Log (its end)' })).toContainText('pod-infra-container-image', patient)
  await control('repair')
  await page.goBack()
  await page.getByRole('button', { name: 'Retry', exact: true }).click()
  await expect(page.locator('.refit-phase')).toHaveText('Succeeded', patient)
})

/** Waits until the page offers to let the drain continue, and names the pod that blocks. */
async function unblockable(page: Page) {
  await expect(page.getByRole('button', { name: `Let the drain of ${REFIT_WORKER} continue` })).toBeVisible(patient)
  await expect(page.getByText(/shop\/never-/).first()).toBeVisible()
}
