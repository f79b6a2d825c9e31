import { expect, type Page } from '@playwright/test'

/** Signs in with a token. */
export async function signIn(page: Page, token: string) {
  await page.goto('/')
  await page.getByRole('textbox', { name: 'Token' }).fill(token)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Goes through the wizard, and waives the PodDisruptionBudget that allows no disruption. */
export async function startWithWaiver(page: Page, version: string) {
  await page.getByRole('link', { name: 'Prepare an upgrade' }).click()
  await page.getByRole('radio', { name: version }).click()
  await page.getByRole('button', { name: 'Next: configuration' }).click()
  await page.getByRole('button', { name: 'Check the cluster' }).click()
  await page.getByRole('button', { name: 'Waive BudgetNeverAllows: PodDisruptionBudget shop/never' }).click({ timeout: 2 * 60_000 })
  await page.getByRole('textbox', { name: 'Reason' }).fill('the shop is closed at night')
  await page.getByRole('button', { name: 'Waive and check again' }).click()
  const plan = page.getByRole('button', { name: 'Next: plan' })
  await expect(plan).toBeEnabled({ timeout: 2 * 60_000 })
  await plan.click()
  await page.getByRole('button', { name: `Start the upgrade to ${version}` }).click()
  await expect(page).toHaveURL(/\/operations\//, { timeout: 2 * 60_000 })
}
