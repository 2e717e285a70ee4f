import { readFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright/test'
import { expect } from './browser.ts'

/** The page, whose demo waits for nothing: for tests that look at what came, not at how it came. */
export const quickPage = '/?pace=0'

/** How the tests speak of the page. */
export const status = (page: Page): Locator => page.getByTestId('run-status')
export const tab = (page: Page, name: string): Promise<void> => page.getByRole('tab', { name, exact: true }).click()
export const composer = (page: Page): Locator => page.getByRole('textbox', { name: 'Message', exact: true })
/** Of the newest call. */
export const card = (page: Page): Locator => page.getByTestId('tool-card').last()

export async function pick(page: Page, scenario: string): Promise<void> {
  // What is shown until the agent is there moves when it comes, under a click that is on its way.
  await expect(page.locator('.app:not([aria-busy="true"])')).toHaveCount(1)
  await page.getByRole('button', { name: scenario, exact: true }).click()
}

export async function finish(page: Page, scenario: string): Promise<void> {
  await ran(page, () => pick(page, scenario))
}

export async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text)
  await composer(page).press('Enter')
}

/** Has the demo model repeat `text`: what it says is rendered as markdown. */
export async function repeat(page: Page, text: string): Promise<void> {
  await ran(page, () => say(page, text))
}

/** Waits for the run that `begin` begins. That it runs may pass unseen; its question stays. */
async function ran(page: Page, begin: () => Promise<void>): Promise<void> {
  const questions = page.getByTestId('message-user')
  const before = await questions.count()
  await begin()
  await expect(questions).toHaveCount(before + 1)
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
}

/** Waits until the browser has stored the files of the draft: a page that ends before has lost them. */
export async function storesFiles(page: Page): Promise<void> {
  await expect(page.getByRole('list', { name: 'Attached' })).toHaveAttribute('aria-busy', 'false')
}

export async function command(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Commands' }).click()
  await page.getByRole('combobox', { name: 'Command' }).fill(name)
  await page.getByRole('combobox', { name: 'Command' }).press('Enter')
}

/** Has agents of this tab ask a server on this machine. */
export async function chooseLocalServer(page: Page, { address, model }: { address: string; model: string }): Promise<void> {
  await page.getByTestId('model-button').click()
  await page.getByText('Local server').click()
  await page.getByRole('combobox', { name: 'Model' }).fill(model)
  await page.getByRole('textbox', { name: 'Address' }).fill(address)
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByTestId('model-button')).toContainText(model)
}

/** Has the page give its conversation as a file. */
export async function exported(page: Page, format: string): Promise<{ name: string; path: string; text: string }> {
  const downloading = page.waitForEvent('download')
  await page.getByLabel('Export as').selectOption(format)
  const download = await downloading
  const path = await download.path()
  return { name: download.suggestedFilename(), path, text: readFileSync(path, 'utf8') }
}
