/** What the views are made of: a page whose clock stands still, so that every moment of a run can be looked at, and comes out the same again. */
import type { Locator, Page } from 'playwright'

const start = new Date('2026-08-03T09:00:00')

/** Opens the page and stops its clock, once it is there. */
export async function openPage(page: Page, address: string): Promise<void> {
  page.setDefaultTimeout(8_000)
  await page.clock.install({ time: start })
  await page.goto(address)
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
  await page.clock.pauseAt(new Date(start.getTime() + 60_000))
  await settle(page, 100)
}

/** Lets the clock of the page run until `selector` is there. */
export async function until(page: Page, selector: string, step = 20): Promise<void> {
  const deadline = Date.now() + 60_000
  while ((await page.locator(selector).count()) === 0) {
    if (Date.now() > deadline) throw new Error(`Nothing on the page is like ${selector}.`)
    await page.clock.runFor(step)
  }
}

/** Lets everything happen that is under way: thinking folds a second after it ended, code is coloured by a part that comes late. */
export async function settle(page: Page, ms = 1500): Promise<void> {
  await page.clock.runFor(ms)
  await page.waitForTimeout(250)
  await page.clock.runFor(50)
  // Parts that are loaded when they are first shown come when the machine has time.
  for (let looks = 0; looks < 100 && (await page.getByText('Loading…').count()) > 0; looks++) {
    await page.waitForTimeout(50)
    await page.clock.runFor(20)
  }
}

/** Clicks, and lets the page answer: it renders by its clock. */
export async function click(target: Locator): Promise<void> {
  await target.click()
  await settle(target.page(), 100)
}

export const press = (page: Page, name: string): Promise<void> => click(page.getByRole('button', { name, exact: true }).first())
export const tab = (page: Page, name: string): Promise<void> => click(page.getByRole('tab', { name, exact: true }))

export async function key(page: Page, name: string): Promise<void> {
  await page.keyboard.press(name)
  await settle(page, 100)
}

/** Begins a scenario, and leaves the page alone: what lies under the pointer looks otherwise. */
async function pick(page: Page, scenario: string): Promise<void> {
  await page.getByRole('button', { name: scenario, exact: true }).first().click()
  await page.mouse.move(0, 0)
}

/** Runs a scenario up to the moment in which `selector` is there. */
export async function play(page: Page, scenario: string, selector: string, step?: number): Promise<void> {
  await pick(page, scenario)
  await until(page, selector, step)
}

const ended = '[data-testid=run-status]:is([data-status=completed], [data-status=error], [data-status=rejected])'

/** Runs a scenario to its end. */
export async function finish(page: Page, scenario: string, step?: number): Promise<void> {
  await pick(page, scenario)
  await ends(page, step)
}

export async function say(page: Page, text: string): Promise<void> {
  const composer = page.getByRole('textbox', { name: 'Message', exact: true })
  await composer.fill(text)
  await composer.press('Enter')
}

/** Waits for the end of a run that has just been asked for. */
export async function ends(page: Page, step?: number): Promise<void> {
  // What ended before is still said to have ended, for a moment.
  await settle(page, 40)
  await until(page, ended, step)
  await settle(page)
}

/** Does something by its name in the palette. */
export async function command(page: Page, name: string): Promise<void> {
  await key(page, 'Control+k')
  const field = page.getByRole('combobox', { name: 'Command' })
  await field.fill(name)
  await field.press('Enter')
  await settle(page, 100)
}

/** Opens the settings, at the model. */
export async function settings(page: Page): Promise<void> {
  await click(page.getByTestId('model-button'))
}

/** Goes on with the model behind `address`, which speaks as OpenAI does. */
export async function useLocalServer(page: Page, address: string): Promise<void> {
  await settings(page)
  await click(page.getByText('Local server'))
  await page.getByRole('combobox', { name: 'Model', exact: true }).fill('llama-3.3')
  await page.getByLabel('Address').fill(address)
  await press(page, 'Apply')
}
