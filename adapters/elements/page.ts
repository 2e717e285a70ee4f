// `dist/elements/page.js`: all of it in one file, for a page that has no bundler.
import { defineElements } from './index.ts'

defineElements()
