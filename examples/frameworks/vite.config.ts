import { globSync } from 'node:fs'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vite'
import solid from 'vite-plugin-solid'

const pages = globSync(`${import.meta.dirname}/{react,vue,svelte,solid}/index.html`)

/** Serves the pages of all frameworks; React needs no plugin. Your app needs only one of these. */
export default defineConfig({
  // A separate cache: two dev servers that share a cache delete each other's dependencies.
  cacheDir: 'node_modules/.vite',
  plugins: [vue(), svelte({ configFile: false }), solid({ include: ['**/solid/*.tsx'] })],
  build: { rolldownOptions: { input: pages }, target: 'es2023' },
})
