// The source of `dist/elements/page.js`: one file for web pages without a bundler, without `<phi-mcp-app>`.
import { elements, register } from './register.ts'

register(elements)
