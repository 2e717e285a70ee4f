// The source of `dist/elements/page.js`: one file with all elements, for web pages without a bundler.
import { defineElements } from './index.ts'

defineElements()
