import { expect, type Page } from '@playwright/test'

/** Goes through the wizard as a person does, and starts the upgrade. */
export async function startUpgrade(page: Page, version: string) {
  await page.getByRole('link', { name: 'Prepare an upgrade' }).click()
  await page.getByRole('radio', { name: version }).click()
  await page.getByRole('button', { name: 'Next: configuration' }).click()
  await page.getByRole('button', { name: 'Check the cluster' }).click()
  const plan = page.getByRole('button', { name: 'Next: plan' })
  await expect(plan).toBeEnabled({ timeout: 120_000 })
  await plan.click()
  await page.getByRole('button', { name: `Start the upgrade to ${version}` }).click()
  await expect(page).toHaveURL(/\/operations\//, { timeout: 120_000 })
}
