/// <reference types="vite/client" />
import { render } from 'preact'
import type { Scenario } from './demo/scenario.ts'
import { watchEarlyInput } from './early-input.ts'
import { loadAnswerParts } from './late/answer-parts.ts'
import { Opening } from './opening.tsx'
import { endpoint } from './remote/endpoint.ts'
import { settingsKey } from './settings/settings-key.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('index.html has no element #app.')
const early = watchEarlyInput()
for (const type of ['dragover', 'drop'] as const) addEventListener(type, allowFiles)

const isFirst = isFirstVisit()
if (isFirst) showOpening(root)
// No top-level `await`: parts that load in the meantime import this file's chunk, and would wait for it forever.
void begin(root)

async function begin(root: HTMLElement): Promise<void> {
  try {
    // Nothing else must compete with the first paint.
    if (isFirst) await painted()
    const { start } = await import('./start.tsx')
    await start(root, early)
    void keepOffline()
  } catch (error) {
    early.end()
    showOpening(root, true)
    throw error
  }
}

/**
 * Makes a production build available offline after the first load, over https or on this machine. A page that a server hosts for its agent
 * needs the server anyway.
 */
async function keepOffline(): Promise<void> {
  if (!import.meta.env.PROD || endpoint !== undefined) return
  try {
    await navigator.serviceWorker.register('offline.js')
  } catch {
    // Service workers are unavailable or not allowed. In a frame without an origin even the access throws.
  }
}

/** Otherwise browsers accept only text dropped into a field, or navigate to the file. */
function allowFiles(event: DragEvent): void {
  if (event.dataTransfer?.types.includes('Files')) event.preventDefault()
}

function showOpening(root: HTMLElement, hasFailed = false): void {
  const onPick = (scenario: Scenario) => {
    early.picked = scenario
    if (!scenario.isWords) loadAnswerParts()
  }
  render(<Opening onPick={onPick} hasFailed={hasFailed} />, root)
}

/** Resolves after the next paint, or after 200 ms, because a hidden page is never painted. */
function painted(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve))
    setTimeout(resolve, 200)
  })
}

/** Returns whether the page starts with the scripted model in a new conversation, so that its content is known. */
function isFirstVisit(): boolean {
  try {
    return endpoint === undefined && location.hash.length < 2 && localStorage.getItem(settingsKey) === null
  } catch {
    return false
  }
}
