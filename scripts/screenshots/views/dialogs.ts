import { click, command, ends, finish, key, press, say, settings, settle, tab, until } from '../steps.ts'
import type { View } from '../view.ts'

/** What lies over the page. */
export const dialogs: readonly View[] = [
  { name: 'settings-scripted', make: settings },
  {
    name: 'view-code',
    async make(page) {
      await settings(page)
      await click(page.getByText('Your own key'))
      await tab(page, 'View code')
      await settle(page, 100)
    },
  },
  {
    name: 'key-banner',
    async make(page) {
      await settings(page)
      await click(page.getByText('Your own key'))
      await page.getByLabel('Key', { exact: true }).fill('sk-ant-an-example')
      await page.getByLabel('Key', { exact: true }).blur()
      await press(page, 'Apply')
    },
  },
  { name: 'palette', make: (page) => key(page, 'Control+k') },
  {
    name: 'palette-filtered',
    async make(page) {
      await key(page, 'Control+k')
      await page.getByRole('combobox', { name: 'Command' }).fill('show')
      await settle(page, 100)
    },
  },
  { name: 'keys', make: (page) => command(page, 'all keys') },
  {
    name: 'storage',
    async make(page) {
      await finish(page, 'Text')
      await command(page, 'storage')
      await settle(page, 100)
    },
  },
]

/** What goes wrong. */
export const troubles: readonly View[] = [
  {
    name: 'no-key',
    async make(page) {
      await settings(page)
      await click(page.getByText('Your own key'))
      await press(page, 'Apply')
      await say(page, 'Are you there?')
      await ends(page, 500)
    },
  },
  {
    name: 'import-refused',
    async make(page) {
      await finish(page, 'Text')
      await page
        .getByLabel('File to import')
        .setInputFiles({ name: 'x.json', mimeType: 'application/json', buffer: Buffer.from('{"loops": 5}') })
      await until(page, '.notice-row')
    },
  },
  {
    name: 'handoff-refused',
    async make(page) {
      await finish(page, 'Text')
      await press(page, 'To server')
      await until(page, '.notice-row')
    },
  },
  {
    name: 'offline',
    async make(page) {
      await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined))
      await page.context().setOffline(true)
      await page.reload()
      await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
      await finish(page, 'Thinking and tools')
    },
  },
]
