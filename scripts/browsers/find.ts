import { existsSync, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type DrivenBrowser, startTwice } from './driver.ts'
import { startFirefox } from './firefox.ts'
import { startWebKit } from './webkit.ts'

/** The browsers that are driven as they come, beside the Chromium of `chromium.ts`. */
export type BrowserName = 'firefox' | 'webkit'

const macFirefox = '/Applications/Firefox.app/Contents/MacOS/firefox'

/** The path of Firefox: `$FIREFOX_PATH`, or one of this machine. */
export function findFirefox(): string | undefined {
  const wanted = process.env.FIREFOX_PATH
  if (wanted && !existsSync(wanted)) throw new Error(`FIREFOX_PATH=${wanted} does not exist. Unset it, or point it at a Firefox.`)
  return (wanted || undefined) ?? findProgram('firefox-esr', 'firefox') ?? [macFirefox].find((path) => existsSync(path))
}

/** The path of WebKitGTK's WebDriver. */
export function findWebKitDriver(): string | undefined {
  return findProgram('WebKitWebDriver')
}

/** The path of WebKitGTK's own small browser, the one its WebDriver is made for. */
export function findMiniBrowser(): string | undefined {
  return globSync('/usr/{lib,lib64,libexec}/{*/,}webkit2gtk-4.*/MiniBrowser').toSorted().at(-1)
}

/** The path of the X server without a screen, in which WebKitGTK opens its windows. */
export function findXvfb(): string | undefined {
  return findProgram('Xvfb')
}

/** How to start a browser; undefined where the machine does not have it. */
export function findBrowser(name: BrowserName): (() => Promise<DrivenBrowser>) | undefined {
  if (name === 'firefox') {
    const binary = findFirefox()
    return binary === undefined ? undefined : () => startTwice(() => startFirefox(binary))
  }
  const [driver, xvfb, miniBrowser] = [findWebKitDriver(), findXvfb(), findMiniBrowser()]
  if (driver === undefined || xvfb === undefined || miniBrowser === undefined) return undefined
  return () => startTwice(() => startWebKit({ driver, xvfb, miniBrowser }))
}

function findProgram(...names: string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path))
}
