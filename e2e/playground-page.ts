import type { Locator, Page } from 'playwright/test'
import { expect } from './browser.ts'

/** How the tests speak of the page. */
export const status = (page: Page): Locator => page.getByTestId('run-status')
export const pick = (page: Page, scenario: string): Promise<void> => page.getByRole('button', { name: scenario, exact: true }).click()
export const tab = (page: Page, name: string): Promise<void> => page.getByRole('tab', { name, exact: true }).click()
export const composer = (page: Page): Locator => page.getByRole('textbox', { name: 'Message', exact: true })

export async function finish(page: Page, scenario: string): Promise<void> {
  await pick(page, scenario)
  await expect(status(page)).toHaveAttribute('data-status', 'running')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
}

/** Has the demo model repeat `text`: what it says is rendered as markdown. */
export async function repeat(page: Page, text: string): Promise<void> {
  await composer(page).fill(text)
  await composer(page).press('Enter')
  await expect(status(page)).toHaveAttribute('data-status', 'running')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
}
