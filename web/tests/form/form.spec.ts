import { expect, test } from '@playwright/test'
import { signIn } from '../steer/waive.ts'

const { REFIT_TOKEN = '', REFIT_RELEASE = '', REFIT_PASSWORD = '' } = process.env

test('a user fills in the form of docs/components.md, and checks the cluster', async ({ page }) => {
  await signIn(page, REFIT_TOKEN)
  await page.getByRole('link', { name: 'Prepare an upgrade' }).click()
  await page.getByRole('radio', { name: REFIT_RELEASE }).click()
  await page.getByRole('button', { name: 'Next: configuration' }).click()
  const host = page.getByRole('textbox', { name: 'Host name' })
  const password = page.getByLabel(/Password of the user shop/)
  await expect(page.getByRole('checkbox', { name: 'Use HTTPS' })).toBeChecked()
  await expect(page.getByLabel('Issuer of certificates')).toHaveValue('letsencrypt')
  await expect(password, 'its group has a condition').toHaveCount(0)
  await host.fill('NO HOST')
  await expect(host).toHaveAccessibleDescription(/must be a DNS name, such as shop\.example\.com/)
  await host.fill('shop.example.com')
  await password.fill(REFIT_PASSWORD)
  await page.getByRole('textbox', { name: 'Connections' }).fill('40')
  await page.getByRole('button', { name: 'Save the answers' }).click()
  await expect(page.getByText(/The answers are saved/)).toBeVisible()
  await expect(password).toHaveValue('')
  await expect(password).toHaveAccessibleDescription(/A password is stored/)
  expect(await page.content()).not.toContain(REFIT_PASSWORD)
  await page.getByRole('button', { name: 'Check the cluster' }).click()
  await expect(page.getByRole('button', { name: 'Check again' })).toBeEnabled({ timeout: 2 * 60_000 })
  await expect(page.getByText('FormIncomplete')).toHaveCount(0)
})
