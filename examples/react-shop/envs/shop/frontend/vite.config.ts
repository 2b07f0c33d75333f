import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Relative addresses hold at a host's root and under a gateway's prefix.
export default defineConfig({ base: "./", plugins: [react()] });
