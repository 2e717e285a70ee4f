/// <reference types="vite/client" />
import { render } from 'preact'
import type { Scenario } from './demo/scenario.ts'
import { Opening } from './opening.tsx'
import { endpoint } from './remote/endpoint.ts'
import { settingsKey } from './settings/settings-key.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('index.html has no element #app.')
/** What was picked before there was an agent to play it. */
let picked: Scenario | undefined

// No top-level `await`: parts that are loaded meanwhile import this file's chunk, and would wait for it for ever.
const starting = import('./start.tsx')
if (isFirstVisit()) {
  render(
    <Opening
      onPick={(scenario) => {
        picked = scenario
      }}
    />,
    root,
  )
}
starting.then(({ start }) => start(root, () => picked))

// Offline after the first load, where the page was built and came over https or from this machine; a page of a server ends with it.
if (import.meta.env.PROD && endpoint === undefined && 'serviceWorker' in navigator)
  navigator.serviceWorker.register('offline.js').catch(() => undefined)

/** Whether what comes is known: the scripted model, in a new conversation. */
function isFirstVisit(): boolean {
  try {
    return endpoint === undefined && location.hash.length < 2 && localStorage.getItem(settingsKey) === null
  } catch {
    return false
  }
}
