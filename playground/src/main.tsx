import { render } from 'preact'
import { App } from './app.tsx'
import { createDesk } from './desk.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('index.html has no element #app.')
render(<App desk={await createDesk()} />, root)
