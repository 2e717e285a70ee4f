/// <reference types="vite/client" />
import { render } from 'preact'
import { Opening } from './layout/opening.tsx'

const root = document.getElementById('app')
if (root === null) throw new Error('index.html has no element #app.')
// The page stands before the agent is loaded.
render(<Opening />, root)
const [{ App }, { createDesk }, { openBackend }] = await Promise.all([
  import('./app.tsx'),
  import('./state/desk.ts'),
  import('./settings/settable-backend.ts'),
])
render(<App desk={await createDesk(openBackend)} />, root)

// Offline after the first load, where the page was built and came over https or from this machine.
if (import.meta.env.PROD && 'serviceWorker' in navigator) navigator.serviceWorker.register('offline.js').catch(() => undefined)
