import '@mantine/core/styles.layer.css';
import '@mantine/notifications/styles.layer.css';
import './app/global.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Application } from './app/application.tsx';
import { watchExpiry } from './app/expiry.ts';

watchExpiry();
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <Application />
  </StrictMode>,
);
