import { createApp } from 'vue'
import Page from './chat-page.vue'

createApp(Page).mount('main')
